/** Errors of the console's own server. Callers of the API get them in the exchange's format. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_PREFIX, ExchangeError } from '@measurement-exchange/contract';

const SAFE = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** A request that the console does not serve. `message` is a human-readable sentence. */
export class Refusal extends Error {
  readonly status: number;
  readonly reason: string;
  constructor(status: number, reason: string, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

const API_REASONS = { 401: 'TOKEN_INVALID', 403: 'PERMISSION_DENIED' } as const;

/** Sends the error in the format that the caller expects: an API error, JSON for the companion, or plain text. */
export function sendRefusal({ url = '' }: IncomingMessage, response: ServerResponse, error: Refusal): void {
  if (response.headersSent) return void response.destroy();
  const { status, reason, message } = error;
  const isApi = url.startsWith(API_PREFIX);
  const asApi = () =>
    new ExchangeError(API_REASONS[status as keyof typeof API_REASONS] ?? 'UNAVAILABLE', message);
  const isText = !isApi && !url.startsWith('/companion/');
  response.writeHead(status, {
    ...SAFE,
    'content-type': isText ? 'text/plain; charset=utf-8' : 'application/json; charset=utf-8',
    // Close the connection, because the rest of the request is not read.
    connection: 'close',
  });
  response.end(isText ? `${message}\n` : JSON.stringify(isApi ? asApi() : { reason, message }));
}
