import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { Results, type Row, totalOf } from './results.ts';
import { emptyTally, shortfalls, TARGETS, type Tally } from './tally.ts';

const folder = mkdtempSync(join(tmpdir(), 'mex-rig-results-'));
afterAll(() => rmSync(folder, { recursive: true }));

function row(name: string, operations: number, tally: Partial<Tally> = {}): Row {
  const seen = { operations, faults: 0, violations: [], tally: { ...emptyTally(), ...tally } };
  return { name, title: '', seed: 1, seconds: 1, endedAt: '', ...seen };
}

describe('the rows of a run', () => {
  it('are available to the next run as soon as they are added, in the order of the harnesses', () => {
    const first = new Results(folder, 'long', false);
    first.add(row('H13', 5));
    first.add(row('H2', 7));
    expect(new Results(folder, 'long', false).load().rows.map(({ name }) => name)).toEqual(['H2', 'H13']);
  });

  it('replace the row of the same harness', () => {
    const next = new Results(folder, 'long', false).load();
    next.add(row('H2', 9));
    expect(next.rows.map(({ name, operations }) => [name, operations])).toEqual([
      ['H2', 9],
      ['H13', 5],
    ]);
  });

  it('are kept together with rows that another rig adds concurrently', () => {
    const [one, other] = [new Results(folder, 'long', false).load(), new Results(folder, 'long', false)];
    other.add(row('H5', 3));
    one.add(row('H6', 4));
    expect(one.rows.map(({ name }) => name)).toEqual(['H2', 'H5', 'H6', 'H13']);
  });

  it('are deleted when a whole run begins', () => {
    const whole = new Results(folder, 'long', false);
    whole.clear();
    whole.add(row('H1', 1));
    expect(whole.rows.map(({ name }) => name)).toEqual(['H1']);
  });

  it('are stored separately for each scale, and for runs with planted bugs', () => {
    expect(new Results(folder, 'short', false).load().rows).toEqual([]);
    expect(new Results(folder, 'long', true).load().rows).toEqual([]);
  });
});

describe('the total', () => {
  it('adds the counts, and uses the longest of the times', () => {
    const rows = [row('H5', 1, { exchangeKills: 2, firstSuccessMs: 9 }), row('H6', 2, { firstSuccessMs: 4 })];
    expect(totalOf(rows)).toEqual({ ...emptyTally(), operations: 3, exchangeKills: 2, firstSuccessMs: 9 });
  });

  it('lists the targets that a whole run did not reach', () => {
    const reached = { ...emptyTally(), operations: 0, ...TARGETS.short };
    expect(shortfalls('short', reached)).toEqual([]);
    expect(shortfalls('short', { ...reached, exchangeKills: 29 })).toEqual(['29 of 30 exchangeKills']);
  });
});
