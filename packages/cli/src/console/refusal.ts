/** Errors that the console's own server sends, each in the form that its reader expects. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { API_PREFIX, ExchangeError } from '@measurement-exchange/contract';

const SAFE = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** A request that the console does not serve. `message` is a sentence for people. */
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

/** Sends an error: to callers of the API as the exchange does, to callers of the companion as JSON, and else as text. */
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
    // The rest of the request is not read.
    connection: 'close',
  });
  response.end(isText ? `${message}\n` : JSON.stringify(isApi ? asApi() : { reason, message }));
}
