/** Sends requests over keep-alive connections and returns complete responses. */
import { Agent, request } from 'node:http';
import type { Reply } from '@measurement-exchange/testkit/exchange';
import { toJson } from '@measurement-exchange/testkit/requests';

/** The time limit for a request. */
const LONGEST_MS = 30_000;

export interface Sent {
  method: string;
  /** The request target: the path and the query. */
  target: string;
  headers?: Record<string, string>;
  /** Text and bytes are sent unchanged, any other value as JSON. */
  body?: unknown;
  token?: string | undefined;
}

/**
 * Sends requests to one server. A response with the status 0 means that the connection ended, or that 30 s passed,
 * without a response. Its `text` says why.
 */
export class Line {
  private readonly agent: Agent;
  private readonly url: string;
  private readonly onResponse: (sent: Sent, response: Reply) => void;
  /** The number of 5xx responses other than 503 and 504. */
  serverErrors = 0;

  constructor(
    url: string,
    connections: number,
    onResponse: (sent: Sent, response: Reply) => void = () => {},
  ) {
    this.url = url;
    this.agent = new Agent({ keepAlive: true, maxSockets: connections });
    this.onResponse = onResponse;
  }

  async send(sent: Sent): Promise<Reply> {
    let response = await this.once(sent);
    // The exchange may close an idle connection at the moment when this client reuses it. The exchange has not read the
    // request in that case, so send the request again.
    if (response.text === RESET) response = await this.once(sent);
    if (response.status >= 500 && response.status !== 503 && response.status !== 504) this.serverErrors++;
    this.onResponse(sent, response);
    return response;
  }

  close(): void {
    this.agent.destroy();
  }

  private once({ method, target, headers, body, token }: Sent): Promise<Reply> {
    const { hostname, port } = new URL(this.url);
    const bytes =
      body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : toJson(body);
    return new Promise((resolve) => {
      const failed = (error: Error) =>
        resolve({ status: 0, headers: new Headers(), text: error.message, json: undefined });
      const sending = request({
        hostname,
        port,
        method,
        path: target,
        agent: this.agent,
        headers: {
          ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
          ...(bytes === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(bytes) }),
          ...headers,
        },
      });
      const timer = setTimeout(() => sending.destroy(new Error('no response within 30 s')), LONGEST_MS);
      sending.on('error', (error) => {
        clearTimeout(timer);
        failed(sending.reusedSocket && isReset(error) ? new Error(RESET) : error);
      });
      sending.on('response', (response) => {
        // Return after the headers, because an event stream has no end.
        if (response.headers['content-type'] === 'text/event-stream') {
          clearTimeout(timer);
          resolve(responseOf(response.statusCode!, response.rawHeaders, ''));
          response.destroy();
          return;
        }
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', failed);
        response.on('close', () => {
          clearTimeout(timer);
          if (!response.complete) return failed(new Error('the response was cut off'));
          resolve(responseOf(response.statusCode!, response.rawHeaders, Buffer.concat(chunks).toString()));
        });
      });
      sending.end(bytes);
    });
  }
}

const RESET = 'reset on a keep-alive connection';

function isReset(error: NodeJS.ErrnoException): boolean {
  return error.code === 'ECONNRESET' || error.code === 'EPIPE';
}

function responseOf(status: number, raw: string[], text: string): Reply {
  const headers = new Headers();
  for (let i = 0; i < raw.length; i += 2) headers.append(raw[i]!, raw[i + 1]!);
  let json: Reply['json'];
  if (text !== '' && headers.get('content-type')?.startsWith('application/json')) {
    try {
      json = JSON.parse(text);
    } catch {
      json = undefined; // the caller reports that the response is not JSON
    }
  }
  return { status, headers, text, json };
}

/** Runs `work` for each item, for at most `width` items in parallel. */
export async function inParallel<T>(
  items: Iterable<T>,
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const queue = items[Symbol.iterator]();
  await Promise.all(
    Array.from({ length: width }, async () => {
      for (let next = queue.next(); !next.done; next = queue.next()) await work(next.value);
    }),
  );
}

/** Returns a percentile of the values (`p` from 0 to 1), rounded to one decimal. */
export function percentile(values: number[], p: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(p * sorted.length))] ?? 0;
  return Math.round(value * 10) / 10;
}
