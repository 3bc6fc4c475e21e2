import type { Explanation, Requisition } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { requestTitle } from './requestWhy.ts';

const deferred = {
  summary: 'Deferred.',
  waitingFor: [{ code: 'DEFERRED', party: 'dataProviders/a', since: '2026-07-01T00:00:00Z' }],
} as unknown as Explanation;
const titleOf = (requisition: Partial<Requisition>) =>
  requestTitle(deferred, requisition as Requisition, String, Date.parse('2026-07-02T00:00:00Z'));

it('requestTitle shows the end of a deferral, or the summary if the deferral is missing', () => {
  const deferral = { until: '2026-07-03T12:00:00Z', reason: 'No files yet' };
  expect(titleOf({ deferral })).toBe('You deferred it until July 3, 12:00 UTC: \u2068No files yet\u2069');
  expect(titleOf({})).toBe('Deferred.');
});
