import { describe, expect, test } from 'vitest';
import {
  type Answer,
  correctReport,
  documentOf,
  type Methodology,
  type Plan,
  planReport,
  requireDefinition,
  starterDefinition,
  toReportCsv,
} from '../src/index.ts';
import { definitionOf, surroundingsOf } from './worlds.ts';

const surroundings = surroundingsOf('honestMajorityShareShuffle', { population: 10_000 });
const methodology: Methodology = {
  protocol: 'direct',
  width: 1,
  noise: { mechanism: 'DISCRETE_GAUSSIAN', params: { epsilon: 1, delta: 1e-9 } },
};
const definition = definitionOf(2, {
  title: 'Two, "quoted"',
  sets: { all: 'a | b' },
  figures: [
    { metric: 'reach', of: ['all', 'a', 'b'] },
    { metric: 'frequency', of: ['all'], maximumFrequency: 2 },
    { metric: 'impressions', of: ['all'] },
  ],
});

function answersOf(plan: Plan, without: (union: number) => boolean = () => false): Map<string, Answer> {
  const kept = plan.needs.filter(({ union }) => !without(union));
  return new Map(
    kept.map(({ key, need, union }) => {
      if (need.type === 'IMPRESSION') return [key, { value: 4000, methodology }];
      const value = union === 3 ? 5000 : 3000;
      return [key, { value, methodology, ...(need.maximumFrequency && { shares: [0.6, 0.4] }) }];
    }),
  );
}

describe('a report as a document', () => {
  test('contains every figure, and the figures that are derived from them', async () => {
    const plan = await planReport(definition, surroundings);
    const document = documentOf(correctReport(plan, answersOf(plan)), () => ({ state: 'NOT_ASKED' }));
    expect(document).toMatchObject({ state: 'COMPLETE', segments: ['a', 'b'], population: 10_000 });
    expect(document.figures.map(({ estimate }) => estimate!.value)).toEqual([5000, 3000, 3000, 5000, 8000]);
    expect(document.figures[3]!.frequencies!.map(({ orMore }) => orMore.value)).toEqual([5000, 2000]);
    const derived = Object.fromEntries(
      document.derived.map(({ name, of, value }) => [`${name} ${of}`, value.value]),
    );
    expect(derived).toEqual({
      ...{ 'overlap a': 2000, 'overlap b': 2000, 'overlap a & b': 1000 },
      ...{ 'incremental reach a': 3000, 'incremental reach b': 2000 },
      ...{ 'exclusive reach a': 2000, 'exclusive reach b': 2000 },
      ...{ 'average frequency all': 1.6, 'gross rating points all': 80 },
      ...{ 'percent of population all': 50, 'percent of population a': 30, 'percent of population b': 30 },
    });
    expect(document).toEqual(JSON.parse(JSON.stringify(document)));
  });

  test('states the measurement and the reason of a missing answer, also in CSV', async () => {
    const plan = await planReport(definition, surroundings);
    const report = correctReport(
      plan,
      answersOf(plan, (union) => union === 1),
    );
    const why = {
      measurement: 'measurementConsumers/x/measurements/y',
      state: 'FAILED',
      reason: 'refused, "no"',
    };
    const document = documentOf(report, () => why);
    expect(document.state).toBe('INCOMPLETE');
    expect(document.figures[1]).toMatchObject({ of: 'a', missing: [why] });
    expect(document.figures[1]!.estimate).toBeUndefined();
    const lines = toReportCsv(document).split('\r\n');
    expect(lines[2]).toContain(',MISSING,"measurementConsumers/x/measurements/y: FAILED: refused, ""no"""');
    expect(lines[1]).toMatch(/^reach,all,.*,5000,.*,OK,$/);
  });

  test('escapes spreadsheet formulas in CSV', async () => {
    const plan = await planReport(definition, surroundings);
    const document = documentOf(correctReport(plan, answersOf(plan)), () => ({ state: 'NOT_ASKED' }));
    const [figure] = document.figures;
    const hostile = { ...document, figures: [{ ...figure!, group: { '=cmd': '1' } }] };
    expect(toReportCsv(hostile)).toContain(",'=cmd 1,");
  });
});

describe('starterDefinition', () => {
  const group = (provider: string, startTime = '2026-10-01T00:00:00Z', endTime?: string) => ({
    ...{ name: `dataProviders/${provider}/eventGroups/1`, startTime, endTime },
  });
  const now = Date.parse('2026-10-29T12:00:00Z');

  test('returns a valid definition for the complete days on which all event groups have events', () => {
    const starter = starterDefinition(
      [
        group('tv-one'),
        group('2nd', '2026-10-02T06:00:00Z'),
        group('all', undefined, '2026-10-20T00:00:00Z'),
      ],
      now,
    );
    expect(requireDefinition(starter)).toEqual(starter);
    expect(Object.keys(starter.segments)).toEqual(['p2nd', 'all_2', 'tv_one']);
    expect(starter.interval).toEqual({ start: '2026-10-03', end: '2026-10-20', timeZone: 'UTC' });
    expect(starter.figures[1]).toMatchObject({ periods: 'weekly(SATURDAY)', cumulative: true });
  });

  test('returns a segment for each provider, even if shortened IDs collide', () => {
    const starter = starterDefinition([group('a-b'), group('a_b'), group('a-b-3'), group('a-b_2')], now);
    expect(requireDefinition(starter)).toEqual(starter);
    expect(Object.values(starter.segments).map(({ eventGroups }) => eventGroups)).toEqual(
      ['a-b-3', 'a-b', 'a-b_2', 'a_b'].map((id) => [expect.stringContaining(`dataProviders/${id}/`)]),
    );
  });

  test('returns names of segments that differ from the names of its sets', () => {
    for (const ids of [
      ['a', 'only_a'],
      ['only_a', 'a'],
      ['all', 'only_all'],
    ]) {
      const starter = starterDefinition(
        ids.map((id) => group(id)),
        now,
      );
      expect(requireDefinition(starter)).toEqual(starter);
    }
  });

  test('returns a valid definition with at most 12 segments for 1 to 20 providers', () => {
    for (const count of [1, 2, 5, 20]) {
      const starter = starterDefinition(
        Array.from({ length: count }, (_, i) => ({ name: `dataProviders/p${i}/eventGroups/x` })),
        now,
      );
      expect(requireDefinition(starter)).toEqual(starter);
      expect(Object.keys(starter.segments)).toHaveLength(Math.min(count, 12));
    }
  });
});
