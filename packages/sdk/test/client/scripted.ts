/** Creates a client of a scripted exchange, for tests that need only the client. */
import { ExchangeError } from '@measurement-exchange/contract';
import { expect } from 'vitest';
import { type ClientOptions, createClient } from '../../src/client/client.ts';
import type { Clock } from '../../src/client/clock.ts';

export const BASE = 'https://exchange.example.com';
export const NOW = Date.parse('2026-11-15T08:00:00Z');

export interface Sent {
  url: string;
  method: string;
  headers: Record<string, string>;
  body: string | null;
}
/** A response, the error with which `fetch` rejects, or a function that makes the response. */
export type Step = Response | Error | ((init: RequestInit) => Promise<Response>);

/** Creates a client whose exchange responds with `steps`, in order. A request after the last step fails the test. */
export function scripted(steps: Step[], options: Partial<ClientOptions> = {}) {
  const sent: Sent[] = [];
  const slept: number[] = [];
  const clock: Clock = {
    now: () => NOW,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      slept.push(ms);
    },
  };
  const scriptedFetch = async (url: string, init: RequestInit) => {
    const { method, headers, body, redirect } = init as Sent & RequestInit;
    expect(redirect).toBe('manual');
    sent.push({ url, method, headers, body });
    const step = steps[sent.length - 1] ?? expect.fail(`call ${sent.length} is one too many`);
    if (step instanceof Error) throw step;
    return typeof step === 'function' ? step(init) : step;
  };
  const client = createClient({
    baseUrl: BASE,
    token: 'secret',
    fetch: scriptedFetch as typeof fetch,
    clock,
    ...options,
  });
  return { client, sent, slept };
}

export const json = (body: unknown, status = 200, headers: Record<string, string> = {}) =>
  new Response(typeof body === 'string' ? body : JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'r1', ...headers },
  });
export const refused = (error: ExchangeError, headers: Record<string, string> = {}) =>
  json(error, error.httpStatus, headers);
export const page = (html: string, status: number, headers: Record<string, string> = {}) =>
  new Response(html, { status, headers: { 'content-type': 'text/html', ...headers } });

export const me = { principal: 'operator', issuer: 'i', subject: 's' };
export const unavailable = () => refused(new ExchangeError('UNAVAILABLE', 'Later.'));
export const limited = (headers = {}) => refused(new ExchangeError('RATE_LIMITED', 'Slow down.'), headers);
export const reset = () => new TypeError('fetch failed', { cause: new Error('read ECONNRESET') });
export const party = { name: 'dataProviders/p' };
export const cancel = { name: 'measurementConsumers/a/measurements/m' };
