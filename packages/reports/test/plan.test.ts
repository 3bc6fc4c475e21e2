import { isStress } from '@measurement-exchange/testkit/rounds';
import { describe, expect, test } from 'vitest';
import {
  correctReport,
  type FigureRequest,
  filterOf,
  PlanError,
  periodsOf,
  planReport,
  type ReportDefinition,
  readDefinition,
  rehearse,
} from '../src/index.ts';
import { EXAMPLES, surroundings } from './examples.ts';
import { LARGE, surroundings as large, largePlan, MANY_FIGURES, SMALLER } from './large.ts';
import { definitionOf } from './worlds.ts';

describe('plan', () => {
  test('chooses the noise for the requested precision, and the rehearsal advises a sufficient budget', async () => {
    const figures: FigureRequest[] = [{ metric: 'reach', of: ['all', 'both'], precision: 500 }];
    const sets = { all: 'a | b', both: 'a & b' };
    const rehearsed = async (budget: ReportDefinition['budget']) => {
      const plan = await planReport(definitionOf(2, { sets, figures, budget }), surroundings);
      return rehearse(plan, surroundings);
    };
    const enough = await rehearsed({ rho: 1, delta: 1e-9 });
    expect(enough.figures.map(({ misses }) => misses)).toEqual([false, false]);
    expect(enough.figures[1]!.halfWidth).toBeCloseTo(500, 0);
    expect(enough.advice).toEqual([]);
    const [advice] = (await rehearsed({ rho: 1e-6, delta: 1e-9 })).advice;
    expect(advice).toMatch(/raise budget\.rho to 0\.0\d+/);
  });

  test('combines segments of one event group in one cell, without filters if one is the whole event group', async () => {
    const eventGroups = ['dataProviders/a/eventGroups/1'];
    const segments = {
      whole: { eventGroups },
      young: { eventGroups, filter: 'age < 30' },
      old: { eventGroups, filter: 'age > 60' },
    };
    const definition = definitionOf(2, {
      segments,
      sets: { any: 'young | old', everybody: 'whole | young | old' },
      figures: [{ metric: 'reach', of: ['any', 'everybody', 'whole'] }],
    });
    const plan = await planReport(definition, surroundings);
    expect(plan.needs.map(({ need }) => need.cells.map(filterOf)).sort()).toEqual([
      [undefined],
      ['(age < 30) || (age > 60)'],
    ]);
  });

  test('rejects a set that no duchies compute, and a group with an unknown attribute', async () => {
    const [, definition] = EXAMPLES[0]!;
    await expect(planReport(definition, { computedBy: () => undefined })).rejects.toThrow(PlanError);
    await expect(planReport(EXAMPLES[2]![1], { ...surroundings, attributes: {} })).rejects.toThrow(
      'has no attribute age',
    );
  });
});

describe('definition', () => {
  const problemsOf = (parts: object) =>
    readDefinition(definitionOf(2, { figures: [{ metric: 'reach', of: ['a'] }], ...parts })).problems;

  test('is accepted if it is valid, and each problem names its path', () => {
    expect(problemsOf({})).toBeUndefined();
    expect(problemsOf({ $schema: './report.schema.json' })).toBeUndefined();
    const field = (parts: object) => problemsOf(parts)![0]!.field;
    expect(field({ sets: { x: 'a | z' }, figures: [{ metric: 'reach', of: ['x'] }] })).toBe('sets[x]');
    expect(field({ sets: { x: 'a | b & a' } })).toBe('sets[x]');
    expect(field({ sets: { x: 'a + b' } })).toBe('sets[x]');
    expect(field({ figures: [{ metric: 'reach', of: ['nobody'] }] })).toBe('figures[0].of[0]');
    expect(field({ figures: [{ metric: 'people', of: ['a'] }] })).toBe('figures[0].metric');
    expect(field({ sets: { x: 'a & b' }, figures: [{ metric: 'frequency', of: ['x'] }] })).toBe(
      'figures[0].of[0]',
    );
    expect(field({ figures: [{ metric: 'reach', of: ['a'], precision: 'much' }] })).toBe(
      'figures[0].precision',
    );
    expect(field({ interval: { start: '2026-07-06', end: '2026-07-05', timeZone: 'UTC' } })).toBe(
      'interval.end',
    );
    expect(field({ interval: { start: '2026-07-06', end: '2026-07-07', timeZone: 'Mars' } })).toBe(
      'interval.timeZone',
    );
    expect(field({ budget: {} })).toBe('budget');
    expect(field({ segments: { a: { eventGroups: ['x'] } } })).toBe('segments[a].eventGroups[0]');
  });

  test('periods start at midnight in the time zone, and weeks start on the requested weekday', () => {
    const interval = { start: '2026-10-23', end: '2026-11-03', timeZone: 'Europe/Berlin' };
    expect(periodsOf(interval, 'weekly(MONDAY)')).toEqual([
      { start: '2026-10-22T22:00:00Z', end: '2026-10-25T23:00:00Z' },
      { start: '2026-10-25T23:00:00Z', end: '2026-11-01T23:00:00Z' },
      { start: '2026-11-01T23:00:00Z', end: '2026-11-02T23:00:00Z' },
    ]);
    expect(periodsOf(interval, 'daily', true)).toHaveLength(11);
    expect(periodsOf(interval, 'total', true)).toEqual(periodsOf(interval));
  });

  test.for([
    // Clocks skip from 0:00 to 1:00 on the first day, and repeat 0:00 to 1:00 on the second.
    ['America/Havana', '2026-03-08', '2026-03-08T05:00:00Z'],
    ['America/Havana', '2026-11-01', '2026-11-01T04:00:00Z'],
    // Clocks skip from 0:00 to 1:00, in a time zone east of UTC.
    ['Asia/Beirut', '2026-03-29', '2026-03-28T22:00:00Z'],
  ] as const)('a clock-change day starts at its first instant: %s, %s', ([timeZone, start, instant]) => {
    expect(periodsOf({ start, end: '2026-12-01', timeZone }, 'total')[0]!.start).toBe(instant);
  });
});

describe('large reports', () => {
  test('4,000 figures are planned', async () => {
    const { figures } = await planReport(MANY_FIGURES, large);
    expect(figures).toHaveLength(4000);
  });

  test.for(isStress ? LARGE : SMALLER)(
    '%s are corrected with a residual below 0.0001',
    async ([, , definition]) => {
      const report = correctReport(...(await largePlan(definition)));
      expect(report.state).toBe('COMPLETE');
      for (const { solution } of report.correction.components) expect(solution.residual).toBeLessThan(1e-4);
    },
  );
});
