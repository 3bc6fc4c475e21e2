/** Sends a call, and retries it with backoff if that is safe. */
import { ExchangeError } from '@measurement-exchange/contract';
import { backoffMs, type Clock } from './clock.ts';
import { UnexpectedResponse, Unreachable } from './errors.ts';
import type { PreparedCall } from './request.ts';
import { readBody, readResponse } from './response.ts';
import { unreachable } from './unreachable.ts';

export interface Sender {
  /** The URL without a trailing slash. */
  baseUrl: string;
  token: string | (() => string | Promise<string>);
  fetch: typeof fetch;
  clock: Clock;
  timeoutMs: number;
  maxAttempts: number;
  maxResponseBytes: number;
  userAgent: string | undefined;
}

/**
 * The longest Retry-After that the client waits for. If the exchange asks for more, the call fails, and the error
 * contains the time to wait.
 */
const MAX_RETRY_AFTER_S = 60;

export async function send(sender: Sender, call: PreparedCall, signal?: AbortSignal): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      const { response, bytes } = await withToken(sender, (token) => fetchOnce(sender, call, token, signal));
      return readResponse(call.route, response, bytes, sender.clock.now());
    } catch (error) {
      const waitSeconds = (error as { retryAfterSeconds?: number }).retryAfterSeconds ?? 0;
      if (attempt >= sender.maxAttempts || !mayRetry(error, call) || waitSeconds > MAX_RETRY_AFTER_S) {
        throw error;
      }
      await sender.clock.sleep(waitSeconds * 1000 + backoffMs(attempt), signal);
    }
  }
}

/**
 * Returns whether to retry the call after this error. A call rejected with 429 had no effect, so a retry is safe. After
 * UNAVAILABLE, a timeout, or a dropped connection, the outcome is unknown, so only a `retryable` call is retried.
 */
function mayRetry(error: unknown, call: PreparedCall): boolean {
  if (error instanceof ExchangeError) {
    if (error.reason === 'RATE_LIMITED') return true;
    return call.retryable && (error.code === 'UNAVAILABLE' || error.code === 'DEADLINE_EXCEEDED');
  }
  if (error instanceof UnexpectedResponse) {
    return error.status === 429 || (call.retryable && error.transient);
  }
  return call.retryable && error instanceof Unreachable;
}

/**
 * Attempts a call with the current token. If the response is 401 and `sender` now supplies another token, attempts the
 * call again with that token.
 */
export async function withToken<R extends { response: Response }>(
  sender: Sender,
  attempt: (token: string) => Promise<R>,
): Promise<R> {
  const token = await tokenOf(sender);
  const received = await attempt(token);
  if (received.response.status !== 401 || typeof sender.token !== 'function') return received;
  const renewed = await tokenOf(sender);
  return renewed === token ? received : attempt(renewed);
}

/** Returns the token. Throws if it is not valid in a header, because fetch would reveal the token in its error. */
async function tokenOf({ token }: Sender): Promise<string> {
  const given = typeof token === 'function' ? await token() : token;
  const trimmed = typeof given === 'string' ? given.trim() : '';
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new TypeError('token: must be a bearer token, or a function that returns one.');
  }
  return trimmed;
}

async function fetchOnce(
  sender: Sender,
  call: PreparedCall,
  token: string,
  signal: AbortSignal | undefined,
): Promise<{ response: Response; bytes: Uint8Array }> {
  // Check again, because the signal may have been aborted while the token was being fetched.
  signal?.throwIfAborted();
  const attempt = new AbortController();
  const stop = () => attempt.abort(signal!.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => attempt.abort(TIMED_OUT), sender.timeoutMs);
  try {
    const response = await request(sender, call, token, attempt.signal);
    const bytes = await readBody(call.route, response, sender.maxResponseBytes, attempt.signal);
    return { response, bytes };
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof UnexpectedResponse) throw error;
    throw withoutResponse(sender, call, attempt.signal.reason === TIMED_OUT ? undefined : error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

export function request(
  sender: Sender,
  call: PreparedCall,
  token: string,
  signal: AbortSignal,
): Promise<Response> {
  return sender.fetch(`${sender.baseUrl}${call.path}`, {
    method: call.route.method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
      ...(sender.userAgent === undefined ? {} : { 'user-agent': sender.userAgent }),
    },
    body: call.body ?? null,
    // Do not follow redirects, because that would send the token to another address.
    redirect: 'manual',
    credentials: 'omit',
    cache: 'no-store',
    signal,
  });
}

const TIMED_OUT = new Error('timed out');

/**
 * Creates the error for a call without a complete response. `cause` is the error of the connection, or undefined after
 * a timeout.
 */
function withoutResponse(sender: Sender, call: PreparedCall, cause: unknown): Unreachable {
  const unknown = call.retryable
    ? ''
    : ` Whether it took effect is not known: read the resource before trying again.`;
  if (cause !== undefined) return unreachable(sender.baseUrl, cause, unknown);
  const what = `did not respond to ${call.route.operation} within ${sender.timeoutMs} ms.`;
  return new Unreachable(`${sender.baseUrl} ${what}${unknown}`);
}
