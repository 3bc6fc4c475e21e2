/**
 * Tests the text of the SQL statements. Unlike tests with a server, these tests also run on machines without
 * ClickHouse.
 */
import { expect, it } from 'vitest';
import { DIALECTS } from '../../filter/dialects.ts';
import { compileFilter } from '../../filter/index.ts';
import type { SourceQuery } from '../source.ts';
import { columnsOf } from './columns.ts';
import { combinationsSql } from './combinations.ts';
import { MatchingRows } from './matching.ts';
import { Parameters } from './parameters.ts';
import { cappedSumSql, histogramSql, peopleRowsSql } from './statement.ts';
import { typeOf } from './types.ts';

const TYPES = {
  vid: 'UInt64',
  timestamp: "DateTime64(3, 'Europe/Berlin')",
  event_group: 'LowCardinality(String)',
  duration: 'Nullable(Float32)',
  n: 'UInt32',
  gender: "Enum8('F' = 1, 'M' = 2)",
  age: 'Nullable(UInt8)',
  weight: 'UInt64',
  score: 'Float64',
  member: 'Bool',
  city: 'LowCardinality(Nullable(String))',
  seen: 'DateTime',
  'person.since': 'Date32',
};
const columns = Object.entries(TYPES).map(([name, type]) => ({ name, type: typeOf(type) }));
const table = { from: '`ads`.`events` FINAL', columns: columnsOf({ count: 'n' }, columns, { gender: 'F' }) };
const { attributes } = table.columns;
const types = Object.fromEntries([...attributes].map(([name, { type }]) => [name, type]));

const matching = {
  attributes: ['city', 'score'],
  rows: (async function* () {
    yield [
      ["O'Fallon\t\\", -0],
      [null, Number.NaN],
    ];
  })(),
};
const query: SourceQuery = {
  vid: 'vid',
  selections: [
    {
      references: ['a', "b'"],
      interval: { start: new Date('2024-01-01'), end: new Date('9999-01-01') },
      matching,
    },
  ],
  buckets: { from: 10, to: 20, wrapTo: 5 },
};

it('writes every attribute in the form that filters expect', () => {
  expect(Object.fromEntries(attributes)).toMatchInlineSnapshot(`
    {
      "age": {
        "sql": "toInt64(\`age\`)",
        "type": "int",
      },
      "city": {
        "sql": "\`city\`",
        "type": "string",
      },
      "gender": {
        "sql": "toString(nullIf(\`gender\`, 'F'))",
        "type": "string",
      },
      "member": {
        "sql": "\`member\`",
        "type": "bool",
      },
      "person.since": {
        "sql": "toInt64(\`person.since\`) * 86400000000",
        "type": "timestamp",
      },
      "score": {
        "sql": "\`score\`",
        "type": "double",
      },
      "seen": {
        "sql": "toInt64(toUnixTimestamp(\`seen\`)) * 1000000",
        "type": "timestamp",
      },
      "weight": {
        "sql": "\`weight\`",
        "type": "uint",
      },
    }
  `);
});

it('writes the statements of each figure', async () => {
  const matched = new Map([[matching, await MatchingRows.read(matching, table.columns)]]);
  const parameters = new Parameters();
  const options = { pass: { residue: 2, of: 4 }, matched };
  expect(histogramSql(query, table, 5, options, parameters)).toMatchInlineSnapshot(`
    "SELECT if(isNull(\`@vid\`), 0, least(\`@events\`, {p0:Int64})) AS k, count(), sum(\`@events\`)
    FROM (SELECT accurateCast(\`vid\`, 'Int64') AS \`@vid\`, sum(toInt64(least(greatest(ifNull(\`n\`, 0), 0), 2147483647))) AS \`@events\`
    FROM \`ads\`.\`events\` FINAL WHERE ((\`event_group\` IN ({p1:String}, {p2:String}) AND \`timestamp\` >= fromUnixTimestamp64Milli({p3:Int64}, 'UTC') AND (isNull(\`city\`), ifNull(toValidUTF8(\`city\`), ''), isNull(\`score\`), ifNull(if(isNaN(\`score\`), toUInt64(9221120237041090560), reinterpretAsUInt64(\`score\` + 0)), 0)) IN {p4:Array(Tuple(UInt8, String, UInt8, UInt64))})) AND toInt64(least(greatest(ifNull(\`n\`, 0), 0), 2147483647)) > 0 AND (isNull(accurateCast(\`vid\`, 'Int64')) OR ((bitAnd(farmFingerprint64(reinterpretAsFixedString(toUInt64(ifNull(accurateCast(\`vid\`, 'Int64'), 0)) + 1414214)), 8388607) >= 10 AND bitAnd(farmFingerprint64(reinterpretAsFixedString(toUInt64(ifNull(accurateCast(\`vid\`, 'Int64'), 0)) + 1414214)), 8388607) < 20) OR bitAnd(farmFingerprint64(reinterpretAsFixedString(toUInt64(ifNull(accurateCast(\`vid\`, 'Int64'), 0)) + 1414214)), 8388607) < 5)) AND positiveModulo(ifNull(accurateCast(\`vid\`, 'Int64'), 0), 4) = 2 GROUP BY \`@vid\`) GROUP BY k"
  `);
  expect(parameters.values).toMatchInlineSnapshot(`
    {
      "p0": "5",
      "p1": "a",
      "p2": "b\\'",
      "p3": "1704067200000",
      "p4": "[(0,'O\\'Fallon\\t\\\\',0,0),(1,'',0,9221120237041090560)]",
    }
  `);
  const everybody = { ...query, buckets: undefined, selections: [] };
  const once = { pass: { residue: 0, of: 1 }, matched };
  const people = { ...once, cap: 255, form: 'small' } as const;
  expect(peopleRowsSql(everybody, table, people, new Parameters())).toMatchInlineSnapshot(`
    "SELECT toUInt16(intHash32(ifNull(\`@vid\`, 0)) % 1024) AS slot, groupArray(toUInt32(if(ifNull(\`@vid\`, 0) BETWEEN 1 AND 2147483646, ifNull(\`@vid\`, 0), 0))), groupArray(toUInt8(if(isNull(\`@vid\`), 0, least(\`@events\`, {p0:Int64}))))
    FROM (SELECT accurateCast(\`vid\`, 'Int64') AS \`@vid\`, sum(toInt64(least(greatest(ifNull(\`n\`, 0), 0), 2147483647))) AS \`@events\`
    FROM \`ads\`.\`events\` FINAL WHERE false GROUP BY \`@vid\`) GROUP BY slot ORDER BY slot WITH FILL FROM 0 TO 1024"
  `);
  const sum = { ...once, what: 'durationMillis', cap: 1000n } as const;
  expect(cappedSumSql(everybody, table, sum, new Parameters())).toMatchInlineSnapshot(`
    "SELECT sumIf(least(\`@total\`, toInt128({p0:Int64})), isNotNull(\`@vid\`)), sumIf(\`@events\`, isNull(\`@vid\`))
    FROM (SELECT accurateCast(\`vid\`, 'Int64') AS \`@vid\`, sum(toInt64(least(greatest(ifNull(\`n\`, 0), 0), 2147483647))) AS \`@events\`, sum(toInt128(toInt64(if(least(greatest(if(isNaN(ifNull(toFloat64(\`duration\`), 0)), 0, ifNull(toFloat64(\`duration\`), 0) * 1000), 0), toFloat64(9007199254740992)) - floor(least(greatest(if(isNaN(ifNull(toFloat64(\`duration\`), 0)), 0, ifNull(toFloat64(\`duration\`), 0) * 1000), 0), toFloat64(9007199254740992))) >= 0.5, ceil(least(greatest(if(isNaN(ifNull(toFloat64(\`duration\`), 0)), 0, ifNull(toFloat64(\`duration\`), 0) * 1000), 0), toFloat64(9007199254740992))), floor(least(greatest(if(isNaN(ifNull(toFloat64(\`duration\`), 0)), 0, ifNull(toFloat64(\`duration\`), 0) * 1000), 0), toFloat64(9007199254740992))))))) AS \`@total\`
    FROM \`ads\`.\`events\` FINAL WHERE false GROUP BY \`@vid\`)"
  `);
  const distinct = { attributes: ['city', 'score', 'member'], limit: 7 };
  expect(combinationsSql(everybody, table, distinct, new Parameters())).toMatchInlineSnapshot(`
    "SELECT CAST(ifNull(cityHash64(\`@0\`, \`@1\`, \`@2\`), 0) % 64 AS UInt8) AS slot, groupArray(tuple(\`@0\`, \`@1\`, \`@2\`))
    FROM (SELECT DISTINCT toValidUTF8(\`city\`) AS \`@0\`, if(isNaN(\`score\`), toUInt64(9221120237041090560), reinterpretAsUInt64(\`score\` + 0)) AS \`@1\`, toUInt8(\`member\`) AS \`@2\` FROM \`ads\`.\`events\` FINAL WHERE false LIMIT 7)
    GROUP BY slot ORDER BY slot WITH FILL FROM 0 TO 64"
  `);
});

it.each([
  "city == 'Z' || !(age < 18)",
  'score in [0.0, 1.5] && score != score',
  "city.contains('x') && city.startsWith('y') && city.endsWith('z') && size(city) > 2",
  'member ? weight >= 1u : age == null',
  "seen < timestamp('2024-01-01T00:00:00Z')",
  'city in []',
])('writes %s in SQL', (filter) => {
  const { sql, rest } = compileFilter(filter, types).pushDown(DIALECTS.clickhouse);
  const parameters = new Parameters();
  const text = sql!({
    attribute: (name) => attributes.get(name)!.sql,
    bind: (value, type) => parameters.constant(value, type),
  });
  expect({ text, ...parameters.values, rest: rest?.attributes }).toMatchSnapshot();
});

it.each(['age + 1 > 2', '-age < 0', "city.matches('^x')", 'score * 2.0 > 1.0'])(
  'leaves %s to CEL',
  (filter) => {
    expect(compileFilter(filter, types).pushDown(DIALECTS.clickhouse).sql).toBe(undefined);
  },
);

it('compares each other type of timestamp column with values of the same type', () => {
  const interval = { start: new Date('2024-01-01T00:00:00.001Z'), end: new Date('2200-01-01') };
  const kinds = ['Date', 'Date32', 'DateTime', 'DateTime64(0)', 'DateTime64(6)', 'DateTime64(9)', 'Int64'];
  const conditions = kinds.map((type) => {
    const all = columns.map((column) =>
      column.name === 'timestamp' ? { ...column, type: typeOf(type) } : column,
    );
    const { times } = columnsOf({ timestampUnit: 'ms' }, all, {});
    const parameters = new Parameters();
    return [type, times.within(interval, parameters), ...Object.values(parameters.values), times.day];
  });
  expect(conditions).toMatchInlineSnapshot(`
    [
      [
        "Date",
        "\`timestamp\` >= addDays(toDate('1970-01-01'), {p0:Int64})",
        "19724",
        "\`timestamp\`",
      ],
      [
        "Date32",
        "\`timestamp\` >= addDays(toDate32('1970-01-01'), {p0:Int64}) AND \`timestamp\` < addDays(toDate32('1970-01-01'), {p1:Int64})",
        "19724",
        "84006",
        "\`timestamp\`",
      ],
      [
        "DateTime",
        "\`timestamp\` >= toDateTime({p0:Int64}, 'UTC')",
        "1704067201",
        "toDate(\`timestamp\`, 'UTC')",
      ],
      [
        "DateTime64(0)",
        "\`timestamp\` >= fromUnixTimestamp64Milli({p0:Int64}, 'UTC') AND \`timestamp\` < fromUnixTimestamp64Milli({p1:Int64}, 'UTC')",
        "1704067200001",
        "7258118400000",
        "toDate32(\`timestamp\`, 'UTC')",
      ],
      [
        "DateTime64(6)",
        "\`timestamp\` >= fromUnixTimestamp64Micro({p0:Int64}, 'UTC') AND \`timestamp\` < fromUnixTimestamp64Micro({p1:Int64}, 'UTC')",
        "1704067200001000",
        "7258118400000000",
        "toDate32(\`timestamp\`, 'UTC')",
      ],
      [
        "DateTime64(9)",
        "\`timestamp\` >= fromUnixTimestamp64Nano({p0:Int64}, 'UTC') AND \`timestamp\` < fromUnixTimestamp64Nano({p1:Int64}, 'UTC')",
        "1704067200001000000",
        "7258118400000000000",
        "toDate32(\`timestamp\`, 'UTC')",
      ],
      [
        "Int64",
        "\`timestamp\` >= {p0:Int64} AND \`timestamp\` < {p1:Int64}",
        "1704067200001",
        "7258118400000",
        "addDays(toDate32('1970-01-01'), toInt32(intDiv(toInt64(\`timestamp\`) - positiveModulo(toInt64(\`timestamp\`), 86400000), 86400000)))",
      ],
    ]
  `);
});
