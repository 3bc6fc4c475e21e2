import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { costInUnits } from '@measurement-exchange/mpc/charges';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Ledger, openLedger } from '../ledger.ts';
import { readLedger } from './reading.ts';

const BUDGET = { epsilon: 1, delta: 0, rho: 0.5 };
let directory: string;
let path: string;
let ledger: Ledger;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'mex-report-'));
  path = join(directory, 'ledger.sqlite');
  ledger = openLedger(path, BUDGET);
});
afterEach(() => {
  ledger.close();
  rmSync(directory, { recursive: true });
});

const requisition = (id: number) => `dataProviders/p/requisitions/r${id}`;
const measurement = (consumer: string, id: number) => `measurementConsumers/${consumer}/measurements/m${id}`;
const on = (reference: string, days: number[], cost: { epsilon?: number; rho?: number }) =>
  days.map((day) => ({ reference, day: `2026-07-0${day}`, cost: costInUnits(cost) }));

function read() {
  const reader = readLedger(path);
  try {
    return { budget: reader.budget(), responses: reader.lastResponses(2), status: reader.agentStatus() };
  } finally {
    reader.close();
  }
}

it('the budget report combines equal consecutive days in ranges, with their remaining budget', () => {
  ledger.begin(requisition(1), on('spring', [1, 2, 3, 5], { epsilon: 0.25 }));
  ledger.begin(requisition(2), [...on('spring', [3], { rho: 0.4 }), ...on('summer', [4], { rho: 0.1 })]);
  const { ranges, limit } = read().budget;
  expect(limit).toEqual(BUDGET);
  expect(
    ranges.map((r) => [
      r.reference,
      r.firstDay,
      r.lastDay,
      r.days,
      r.spent.epsilon,
      r.spent.rho,
      r.leftRatio,
    ]),
  ).toEqual([
    ['spring', '2026-07-01', '2026-07-02', 2, 0.25, 0, 0.75],
    ['spring', '2026-07-03', '2026-07-03', 1, 0.25, 0.4, expect.closeTo(0.2)],
    ['spring', '2026-07-05', '2026-07-05', 1, 0.25, 0, 0.75],
    ['summer', '2026-07-04', '2026-07-04', 1, 0, 0.1, 0.8],
  ]);
  expect(ledger.ranges()).toEqual(ranges);
});

it('the budget report lists spending by consumer and measurement, and possible repeats of the last one', () => {
  ledger.begin(requisition(1), on('spring', [1, 2], { epsilon: 0.25 }), measurement('acme', 1));
  ledger.begin(requisition(2), on('spring', [1], { epsilon: 0.125 }), measurement('acme', 2));
  ledger.begin(requisition(3), on('spring', [2, 3], { epsilon: 0.25 }), measurement('globex', 3));
  const { consumers, measurements, moreLikeTheLast } = read().budget;
  expect(consumers.map((c) => [c.measurementConsumer, c.measurements, c.most.epsilon])).toEqual([
    ['measurementConsumers/acme', 2, 0.375],
    ['measurementConsumers/globex', 1, 0.25],
  ]);
  expect(measurements.map((m) => m.measurement).toSorted()).toEqual(
    [measurement('acme', 1), measurement('acme', 2), measurement('globex', 3)].toSorted(),
  );
  expect(measurements.find((m) => m.requisition === requisition(3))).toMatchObject({
    ...{ references: ['spring'], firstDay: '2026-07-02', lastDay: '2026-07-03', charges: 2 },
    cost: { epsilon: 0.25, delta: 0, rho: 0 },
  });
  // On day 2, half of the budget is left, which is twice the cost of the last measurement.
  expect(moreLikeTheLast).toBe(2);
});

it('the reader returns the last responses without their content, and the status of the agent', () => {
  const refusal = { justification: 'SPEC_INVALID', message: 'no' } as const;
  ledger.commit(requisition(1), { refusal }, measurement('acme', 1));
  ledger.begin(requisition(2), []);
  ledger.commit(requisition(2), { upload: { duchy: 'duchies/alpha', fulfillment: '{}' } });
  const counts = { fulfilled: 1, refused: 0, closed: 0, retrying: 2, rejected: 0, deferred: 0, held: 0 };
  const status = { startTime: '2026-07-01T00:00:00Z', counts, open: 0, waiting: 0, nextRetries: [] };
  ledger.storeStatus(status);
  const { responses, status: stored } = read();
  expect(stored).toEqual(status);
  const time = expect.any(String);
  expect(responses.toSorted((a, b) => (a.requisition < b.requisition ? -1 : 1))).toEqual([
    {
      requisition: requisition(1),
      time,
      response: 'REFUSAL',
      measurement: measurement('acme', 1),
      ...refusal,
    },
    { requisition: requisition(2), time, response: 'UPLOAD' },
  ]);
});
