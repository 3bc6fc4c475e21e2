/** One call, in as many attempts as it takes and as are safe. */
import { ExchangeError } from '@measurement-exchange/contract';
import { readAnswer } from './answer.ts';
import { backoffMs, type Clock } from './clock.ts';
import { UnexpectedAnswer, Unreachable } from './errors.ts';
import type { PreparedCall } from './request.ts';

export interface Sender {
  /** Without a slash at its end. */
  baseUrl: string;
  token: string | (() => string | Promise<string>);
  fetch: typeof fetch;
  clock: Clock;
  timeoutMs: number;
  maxAttempts: number;
  userAgent: string | undefined;
}

/** Longer than this the caller decides whether to wait; the error says how long. */
const LONGEST_RETRY_AFTER_S = 60;

export async function send(sender: Sender, call: PreparedCall, signal?: AbortSignal): Promise<unknown> {
  for (let attempt = 1; ; attempt++) {
    signal?.throwIfAborted();
    try {
      return await attemptOnce(sender, call, signal);
    } catch (error) {
      const waitSeconds = (error as { retryAfterSeconds?: number }).retryAfterSeconds ?? 0;
      if (attempt >= sender.maxAttempts || !mayTryAgain(error, call) || waitSeconds > LONGEST_RETRY_AFTER_S) {
        throw error;
      }
      await sender.clock.sleep(waitSeconds * 1000 + backoffMs(attempt), signal);
    }
  }
}

/** 429 comes before anything is done; after UNAVAILABLE, a timeout or a lost connection nobody knows. */
function mayTryAgain(error: unknown, call: PreparedCall): boolean {
  if (error instanceof ExchangeError) {
    if (error.reason === 'RATE_LIMITED') return true;
    return call.resendable && (error.code === 'UNAVAILABLE' || error.code === 'DEADLINE_EXCEEDED');
  }
  if (error instanceof UnexpectedAnswer) {
    return error.status === 429 || (call.resendable && error.transient);
  }
  return call.resendable && error instanceof Unreachable;
}

async function attemptOnce(sender: Sender, call: PreparedCall, signal?: AbortSignal): Promise<unknown> {
  const token = await tokenOf(sender);
  let answer = await exchange(sender, call, token, signal);
  if (answer.response.status === 401 && typeof sender.token === 'function') {
    const renewed = await tokenOf(sender);
    if (renewed !== token) answer = await exchange(sender, call, renewed, signal);
  }
  return readAnswer(call.route, answer.response, answer.bytes, sender.clock.now());
}

/** What no header can hold is refused here: the error of fetch would quote it. */
async function tokenOf({ token }: Sender): Promise<string> {
  const given = typeof token === 'function' ? await token() : token;
  const trimmed = typeof given === 'string' ? given.trim() : '';
  if (!/^[\x21-\x7e]+$/.test(trimmed)) {
    throw new TypeError('token: must be a bearer token, or a function that gives one.');
  }
  return trimmed;
}

async function exchange(
  sender: Sender,
  call: PreparedCall,
  token: string,
  signal: AbortSignal | undefined,
): Promise<{ response: Response; bytes: Uint8Array }> {
  // The token may have taken its time.
  signal?.throwIfAborted();
  const attempt = new AbortController();
  const stop = () => attempt.abort(signal!.reason);
  signal?.addEventListener('abort', stop, { once: true });
  const timer = setTimeout(() => attempt.abort(TIMED_OUT), sender.timeoutMs);
  try {
    const response = await sender.fetch(`${sender.baseUrl}${call.path}`, {
      method: call.route.method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(call.body === undefined ? {} : { 'content-type': 'application/json' }),
        ...(sender.userAgent === undefined ? {} : { 'user-agent': sender.userAgent }),
      },
      body: call.body ?? null,
      // The token goes to the exchange and nowhere else.
      redirect: 'manual',
      credentials: 'omit',
      cache: 'no-store',
      signal: attempt.signal,
    });
    return { response, bytes: new Uint8Array(await response.arrayBuffer()) };
  } catch (error) {
    signal?.throwIfAborted();
    throw unreachable(sender, call, attempt.signal.reason === TIMED_OUT ? undefined : error);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', stop);
  }
}

const TIMED_OUT = new Error('timed out');

/** `cause` is undefined where the time was up. */
function unreachable(sender: Sender, call: PreparedCall, cause: unknown): Unreachable {
  const unknown = call.resendable
    ? ''
    : ` Whether it took effect is not known: read the resource before trying again.`;
  const what =
    cause === undefined
      ? `did not answer ${call.route.operation} within ${sender.timeoutMs} ms.`
      : `does not answer (${reasonOf(cause)}). Does the exchange run there?`;
  return new Unreachable(`${sender.baseUrl} ${what}${unknown}`, { cause });
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message || String(error);
}
