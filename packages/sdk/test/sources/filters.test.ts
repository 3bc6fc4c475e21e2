/** Applies random filters to random rows. Every source must select exactly the rows that CEL selects. */
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Events, openEvents } from '../../src/provider/events.ts';
import { DIALECTS } from '../../src/provider/filter/dialects.ts';
import { compileFilter } from '../../src/provider/filter/index.ts';
import { ATTRIBUTES, FILTER, ROWS, TIME_PARTS } from './randomFilters.ts';
import { TEST_SOURCES } from './sources.ts';
import type { Loaded, TestSource, TestTable } from './testSource.ts';

/** The number of filters in one question. Each filter has its own copy of the rows. */
const AT_ONCE = 10;
const NOON = BigInt(Date.UTC(2024, 0, 1, 12)) * 1000n;
const INTERVAL = { start: new Date('2024-01-01'), end: new Date('2024-01-02') };
const SPECIAL = [
  // Compare NaN with an absent value, with itself, and in lists.
  '!(d < e)',
  'd == d',
  'd in [0.0 / 0.0]',
  // Distinguish -0 from 0, although the engine puts both into one group.
  '1.0 / d < 0.0',
  // Compare two texts whose order by UTF-16 code units differs from their order by code points.
  's < t',
  // Compare integers with a double that is equal to 2^63, which is also the double nearest to 2^63 - 1.
  'i in [dyn(9223372036854775808.0)]',
  'dyn(i) == 9223372036854775808.0',
  // Include lists with an element that fails to evaluate, which makes the whole `in` fail.
  "s in ['😀', t]",
  'b in [true, 1 / 0 == 1]',
  'i in []',
  'i + 1 > i',
  ...TIME_PARTS.map((part) => `at.${part}() in [0, 1, 2, 10, 11, 13, 14, 20, 22, 23, 59, 317, 999, 1970]`),
  'true',
  '1 / 0 == 1',
];
/**
 * Filters to test alone. If a query has only one filter, an engine may skip parts of a table. The engine must not skip
 * a part that contains -0 but not 0.
 */
const ALONE = ['d in [0.0]'];

/** The rows, repeated for each filter. The VID is the number of the row. */
function tableFor({ lacksNul = false }: TestSource): TestTable {
  const names = Object.keys(ATTRIBUTES) as (keyof typeof ATTRIBUTES)[];
  const nullable = true;
  return {
    columns: [
      { name: 'vid', type: 'int', nullable },
      { name: 'timestamp', type: 'timestamp', nullable },
      { name: 'event_group', type: 'string', nullable },
      ...names.map((name) => ({ name, type: ATTRIBUTES[name], nullable })),
    ],
    rows: Array.from({ length: AT_ONCE }, (_, k) =>
      rowsFor(lacksNul).map((row, i) => [
        BigInt(k * ROWS.length + i),
        NOON,
        `g${k}`,
        ...names.map((n) => row[n]),
      ]),
    ).flat(),
  };
}

const withoutNul = (value: unknown) => (typeof value === 'string' ? value.replaceAll('\u0000', '') : value);
const rowsFor = (lacksNul: boolean): typeof ROWS =>
  lacksNul
    ? ROWS.map(
        (row) => Object.fromEntries(Object.entries(row).map(([k, v]) => [k, withoutNul(v)])) as typeof row,
      )
    : ROWS;

function pickedByCel(filters: string[], rows: typeof ROWS): bigint[] {
  return filters.flatMap((filter, k) => {
    const compiled = compileFilter(filter, ATTRIBUTES);
    return rows.flatMap((row, i) => (compiled.matches(row) ? [BigInt(k * rows.length + i)] : []));
  });
}

async function pickedBySource(events: Events, filters: string[]): Promise<bigint[]> {
  const eventGroups = filters.map((filter, k) => ({ reference: `g${k}`, interval: INTERVAL, filter }));
  const picked: bigint[] = [];
  await events.allPeople({ eventGroups, vidSampling: { start: 0, width: 1 } }, 1, (vids) => {
    picked.push(...vids);
  });
  return picked.sort((a, b) => Number(a - b));
}

test('random filters call every function that a dialect translates to SQL', () => {
  const filters = fc.sample(FILTER, { numRuns: 500, seed: 1 }).join('\n');
  const functions = Object.values(DIALECTS).flatMap((dialect) => Object.keys(dialect.functions));
  expect(functions.filter((name) => !filters.includes(`${name}(`))).toEqual([]);
});

describe.each(TEST_SOURCES)('$name', (source) => {
  if (source.skipped !== undefined) {
    test.skip(`${source.name}: ${source.skipped}`, () => {});
    return;
  }
  const rows = rowsFor(source.lacksNul ?? false);
  let loaded: Loaded;
  let events: Events;
  beforeAll(async () => {
    loaded = await source.load(tableFor(source));
    // Lower the maximum number of combinations. Each filter may then take more steps per combination, so that ten
    // filters fit into one question.
    events = await openEvents({ ...loaded.where, maximumCombinations: 1000 });
  });
  afterAll(async () => {
    await events?.close();
    await loaded?.remove();
  });

  test('the source and CEL agree on special values', async () => {
    const forms = SPECIAL.flatMap((filter, i) => {
      const all = [filter, `!(${filter})`, `(${filter}) || c`];
      return isStress ? all : [all[i % all.length]!];
    });
    const questions = Array.from({ length: Math.ceil(forms.length / AT_ONCE) }, (_, i) =>
      forms.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
    );
    for (const some of [...questions, ALONE]) {
      const picked = await pickedBySource(events, some);
      expect({ some, picked }).toEqual({ some, picked: pickedByCel(some, rows) });
    }
  });

  test('random filters select the same events in the source as in CEL', async () => {
    const filters = { count: 0, sql: 0, mixed: 0, matching: 0 };
    await fc.assert(
      fc.asyncProperty(fc.array(FILTER, { minLength: AT_ONCE, maxLength: AT_ONCE }), async (some) => {
        for (const filter of some) {
          const { sql, rest } = compileFilter(filter, ATTRIBUTES).pushDown(DIALECTS[source.dialect]);
          filters.count++;
          if (rest === undefined) filters.sql++;
          else if (sql !== undefined) filters.mixed++;
        }
        const expected = pickedByCel(some, rows);
        filters.matching += new Set(expected.map((vid) => vid / BigInt(rows.length))).size;
        expect({ some, picked: await pickedBySource(events, some) }).toEqual({ some, picked: expected });
      }),
      // Stress runs compare 2,500 filters on 48 rows each, which gives 120,000 comparisons. Set RUNS and SEED in the
      // environment for a longer or a different search.
      { numRuns: Number(process.env.RUNS ?? rounds(250, 5)), seed: Number(process.env.SEED ?? 1) },
    );
    // Check that the comparison was meaningful. Enough filters must run only in SQL, enough must run partly in SQL and
    // partly in CEL, and enough must select rows.
    expect(filters.sql).toBeGreaterThan(filters.count * source.leastInSql);
    expect(filters.mixed).toBeGreaterThan(filters.count / 20);
    expect(filters.matching).toBeGreaterThan(filters.count / 4);
  }, 3_600_000);
});
