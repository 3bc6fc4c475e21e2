import { keyOf, type Need } from '@measurement-exchange/reports';
import { expect, it } from 'vitest';
import { questionOf } from '../question.ts';
import { readRequest } from '../readRequest.ts';
import type { MeasurementRequest } from '../request.ts';
import { asksFor, needsIn, requestFor } from './requests.ts';

const period = { start: '2026-10-01T00:00:00Z', end: '2026-10-29T00:00:00Z' };
const need: Need = {
  ...{ type: 'REACH_AND_FREQUENCY', period, group: {}, maximumFrequency: 8 },
  cells: ['a', 'b'].map((id) => ({ eventGroup: `dataProviders/x/eventGroups/${id}`, filters: ['age > 3'] })),
  vidSamplingInterval: { start: 0, width: 1 },
};
const params = { epsilon: 0.1, delta: 1e-9 };
const asked = (request: MeasurementRequest) =>
  JSON.parse(JSON.stringify(questionOf(request, readRequest(request))));

it('a question asks for a need regardless of the order of its event groups', async () => {
  const request = requestFor([{ need, params }]);
  const [provider] = request.dataProviders;
  const eventGroups = provider!.eventGroups!.toReversed();
  const question = asked({ ...request, dataProviders: [{ ...provider!, eventGroups }] });
  expect(asksFor(question, need)).toBe(true);
  const [found] = needsIn(question);
  expect(await keyOf(found!)).toBe(await keyOf(need));
});

it.each<[string, Partial<Need>]>([
  ['another frequency', { maximumFrequency: 7 }],
  ['another period', { period: { ...period, end: '2026-10-28T00:00:00Z' } }],
  ['another group', { group: { age: '18-34' } }],
  ['another filter', { cells: need.cells.map((cell) => ({ ...cell, filters: ['age > 4'] })) }],
  ['another event group', { cells: need.cells.slice(1) }],
  ['another sample', { vidSamplingInterval: { start: 0, width: 0.5 } }],
])('a question does not ask for %s', (_, change) => {
  expect(asksFor(asked(requestFor([{ need, params }])), { ...need, ...change })).toBe(false);
});
