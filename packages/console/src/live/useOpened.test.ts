import { environmentManager, QueryClient, QueryObserver } from '@tanstack/react-query';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { VERIFIED_MS } from '../companion/methods.ts';
import { requestQuery } from '../pages/provider/requests.ts';
import type { Session } from '../session/session.ts';
import { resultQuery } from './useOpened.ts';

let queries: QueryClient;
beforeEach(() => {
  vi.useFakeTimers();
  environmentManager.setIsServer(() => false);
  // Keep all queries in the cache. By default, the cache removes a query without observers after five minutes.
  queries = new QueryClient({ defaultOptions: { queries: { gcTime: Number.POSITIVE_INFINITY } } });
});
afterEach(() => {
  queries.clear();
  environmentManager.setIsServer(() => true);
  vi.useRealTimers();
});

/** Returns a query that opens a result or a request, and the mock of the companion's method that the query calls. */
function queryOf(which: 'result' | 'request') {
  const open = vi.fn(async () => ({ steps: [] }));
  const session = { principal: 'acme', companion: { result: open, requisition: open } } as unknown as Session;
  return { query: which === 'result' ? resultQuery(session, 'a') : requestQuery(session, 'a'), open };
}

it.each(['result', 'request'] as const)('a verified %s is cached for five minutes', async (which) => {
  const { query, open } = queryOf(which);
  const read = () => queries.fetchQuery(query as object as { queryKey: string[] });
  await read();
  await vi.advanceTimersByTimeAsync(VERIFIED_MS - 1);
  await read();
  expect(open).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  await read();
  expect(open).toHaveBeenCalledTimes(2);
});

it.each(['result', 'request'] as const)(
  'a %s is verified again every five minutes while a page shows it',
  async (which) => {
    const { query, open } = queryOf(which);
    const leave = new QueryObserver(queries, query as object as { queryKey: string[] }).subscribe(() => {});
    await vi.advanceTimersByTimeAsync(2 * VERIFIED_MS + 1);
    leave();
    expect(open).toHaveBeenCalledTimes(3);
  },
);
