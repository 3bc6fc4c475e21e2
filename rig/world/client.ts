/** Sends requests over keep-alive connections, with three possible outcomes: a response, not sent, or unknown. */
import { Agent, request } from 'node:http';
import { toJson } from '@measurement-exchange/testkit/requests';

export type Reply = HttpResponse | { kind: 'unsent'; why: string } | { kind: 'unknown'; why: string };

export interface HttpResponse {
  kind: 'response';
  status: number;
  /** `OK`, or the reason of the error. */
  reason: string;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: harnesses look into responses freely
  json: any;
}

/**
 * The time limit for a request. Under any single fault, every request must get a response, or its connection must be
 * closed, within this time.
 */
const LONGEST_MS = 30_000;

export class Client {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 64 });

  send(method: string, url: string, headers: Record<string, string>, body?: unknown): Promise<Reply> {
    const text = body === undefined ? undefined : typeof body === 'string' ? body : toJson(body);
    return new Promise((resolve) => {
      const sending = request(url, {
        method,
        agent: this.agent,
        headers: {
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      });
      const timer = setTimeout(
        () => sending.destroy(new Error(`no response within ${LONGEST_MS / 1000} s`)),
        LONGEST_MS,
      );
      const give = (reply: Reply) => {
        clearTimeout(timer);
        resolve(reply);
      };
      const lost = (error: NodeJS.ErrnoException) =>
        give({ kind: error.code === 'ECONNREFUSED' ? 'unsent' : 'unknown', why: error.message });
      sending.on('error', lost);
      sending.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk) => chunks.push(chunk));
        response.on('error', lost);
        // The connection closed before the response was complete.
        response.on('aborted', () => give({ kind: 'unknown', why: 'the response was cut off' }));
        response.on('end', () => {
          if (response.complete) give(responseOf(response.statusCode!, Buffer.concat(chunks).toString()));
        });
      });
      sending.end(text);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

function responseOf(status: number, text: string): Reply {
  let json: HttpResponse['json'];
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined; // not JSON, which the caller reports
  }
  const reason =
    status === 200 ? 'OK' : (json?.error?.details?.[0]?.reason ?? json?.error?.status ?? `${status}`);
  return { kind: 'response', status, reason, text, json };
}
