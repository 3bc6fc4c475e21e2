import { ExchangeError, type MeasurementState, type Violation } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { type Entry, entryViolations, newEntries, progressOf } from './reportEntries.ts';

const ACME = 'measurementConsumers/acme';
const key = (digit: string) => digit.repeat(64);
const named = (digit: string, id: string) => ({ key: key(digit), measurement: `${ACME}/measurements/${id}` });

function entries(...states: (MeasurementState | undefined)[]): Entry[] {
  return states.map((state, i) => ({ key: key(String(i)), measurement: `m${i}`, state }));
}

function violationsOf(run: () => unknown): Violation[] {
  try {
    run();
  } catch (error) {
    if (error instanceof ExchangeError) return error.violations;
    throw error;
  }
  return [];
}

describe('the state of a report', () => {
  it.each([
    ['PLANNED', []],
    ['COMPLETE', ['SUCCEEDED', 'SUCCEEDED']],
    ['INCOMPLETE', ['SUCCEEDED', 'FAILED']],
    ['INCOMPLETE', ['CANCELLED']],
    ['INCOMPLETE', ['SUCCEEDED', undefined]],
  ] as const)('is %s with measurements %j, and waits for no measurement', (state, of) => {
    expect(progressOf(entries(...of))).toEqual({ state, waitingFor: undefined });
  });

  it.each([
    ['m0', ['AWAITING_REQUISITION_FULFILLMENT']],
    ['m1', ['SUCCEEDED', 'COMPUTING', undefined]],
    ['m2', ['COMPUTING', 'FAILED', 'AWAITING_REQUISITION_FULFILLMENT', 'SUCCEEDED']],
  ] as const)('is RUNNING and waits for %s, the last pending one of %j', (waitingFor, of) => {
    expect(progressOf(entries(...of))).toEqual({ state: 'RUNNING', waitingFor });
  });
});

describe('measurements of a request', () => {
  it('must have distinct keys and belong to the consumer', () => {
    const foreign = { key: key('c'), measurement: 'measurementConsumers/acmes/measurements/m' };
    const given = [named('a', 'm'), named('a', 'n'), { ...named('b', 'm'), key: key('G') }, foreign];
    expect(entryViolations(ACME, given).map(({ field }) => field)).toEqual([
      'measurements[1].key',
      'measurements[2].key',
      'measurements[3].measurement',
    ]);
  });

  it('are appended if the report does not have them', () => {
    const existing = entries('SUCCEEDED');
    const given = [named('0', 'm0'), named('1', 'm1')];
    expect(newEntries(ACME, existing, given)).toEqual([{ key: key('1'), measurement: 'm1' }]);
    expect(newEntries(ACME, existing)).toEqual([]);
  });

  it('cannot replace one that the report has', () => {
    const violations = violationsOf(() => newEntries(ACME, entries('FAILED'), [named('0', 'm9')]));
    expect(violations).toMatchObject([{ field: 'measurements[0].measurement' }]);
    expect(violations[0]!.description).toContain(`${ACME}/measurements/m0`);
  });

  it('are limited to 5,000, including those of the report', () => {
    const existing = Array.from({ length: 5_000 }, (_, i) => ({ key: `${i}`, measurement: 'm' }));
    const given = [named('a', 'm')];
    expect(newEntries(ACME, existing.slice(1), given)).toHaveLength(1);
    const violations = violationsOf(() => newEntries(ACME, existing, given));
    expect(violations.map(({ field }) => field)).toEqual(['measurements']);
  });
});
