/** Builds ClickHouse's SQL for a `SourceQuery`. */
import { BUCKET_MASK, type BucketRange, MAX_VID, VID_SALT } from '../buckets.ts';
import type { Matching, SourceQuery, Summed, VidForm } from '../source.ts';
import { conditionOf } from '../statement.ts';
import type { Columns } from './columns.ts';
import type { MatchingRows } from './matching.ts';
import type { Parameters } from './parameters.ts';

/** A table, with everything that a statement needs to read it. */
export interface Table {
  /** The table expression after FROM. */
  from: string;
  columns: Columns;
}

/**
 * One of several passes over the events. `of` is the number of passes. A pass reads only people with
 * `vid % of = residue`, so each pass needs less memory than a single pass over all people.
 */
export interface Pass {
  residue: number;
  of: number;
}

export type Matched = ReadonlyMap<Matching, MatchingRows>;

/**
 * SQL expression: the bucket of a VID. The expression converts the VID to bytes first, because the server's hash of a
 * number differs from the hash of the number's bytes.
 */
export const bucketSql = (vid: string) =>
  `bitAnd(farmFingerprint64(reinterpretAsFixedString(toUInt64(${vid}) + ${VID_SALT})), ${BUCKET_MASK})`;

export function conditionSql(
  query: Pick<SourceQuery, 'selections' | 'vid'>,
  { columns }: Table,
  matched: Matched,
  parameters: Parameters,
): string {
  return conditionOf(query, {
    bind: (value, type) => parameters.constant(value, type),
    attribute: (name) => columns.attributes.get(name)!.sql,
    vid: columns.vids.get(query.vid)!,
    references: (references) =>
      `${columns.eventGroup} IN (${references.map((reference) => parameters.text(reference)).join(', ')})`,
    within: (interval) => columns.times.within(interval, parameters),
    matched: (matching) => matched.get(matching)!.condition(columns, parameters),
    hasEvents: columns.count && `${columns.count} > 0`,
  });
}

/**
 * Returns a subquery that groups the selected events of the pass by sampled person. Its columns are named `@vid`,
 * `@events` (the number of events), and, if the SQL expression `total` is given, `@total` (the sum of this expression).
 * Events without a VID form one group, so that they can be reported.
 */
function peopleSql(
  query: SourceQuery,
  table: Table,
  { pass, matched, total }: { pass: Pass; matched: Matched; total?: string | undefined },
  parameters: Parameters,
): string {
  const { columns, from } = table;
  const vid = columns.vids.get(query.vid)!;
  const conditions = [conditionSql(query, table, matched, parameters)];
  if (query.buckets) conditions.push(`(isNull(${vid}) OR ${inBuckets(query.buckets, `ifNull(${vid}, 0)`)})`);
  if (pass.of > 1) conditions.push(`positiveModulo(ifNull(${vid}, 0), ${pass.of}) = ${pass.residue}`);
  const events = columns.count === undefined ? 'count()' : `sum(${columns.count})`;
  const sum = total === undefined ? '' : `, sum(toInt128(${total})) AS \`@total\``;
  return `(SELECT ${vid} AS \`@vid\`, ${events} AS \`@events\`${sum}
FROM ${from} WHERE ${conditions.join(' AND ')} GROUP BY \`@vid\`)`;
}

function inBuckets({ from, to, wrapTo }: BucketRange, vid: string): string {
  const bucket = bucketSql(vid);
  const wrapped = wrapTo > 0 ? ` OR ${bucket} < ${wrapTo}` : '';
  return `((${bucket} >= ${from} AND ${bucket} < ${to})${wrapped})`;
}

export interface FigureOptions {
  pass: Pass;
  matched: Matched;
}

/**
 * Writes a statement whose result has one row for each frequency: the frequency, the number of people, and the number
 * of their events. Frequency 0 stands for events without a VID.
 */
export function histogramSql(
  query: SourceQuery,
  table: Table,
  max: number,
  options: FigureOptions,
  parameters: Parameters,
): string {
  return `SELECT if(isNull(\`@vid\`), 0, least(\`@events\`, ${parameters.int64(max)})) AS k, count(), sum(\`@events\`)
FROM ${peopleSql(query, table, options, parameters)} GROUP BY k`;
}

/**
 * Writes a statement whose result has one row: the sum of all people's capped values, and the number of events without
 * a VID.
 */
export function cappedSumSql(
  query: SourceQuery,
  table: Table,
  { what, cap, ...options }: FigureOptions & { what: Summed; cap: bigint },
  parameters: Parameters,
): string {
  const total = what === 'events' ? undefined : table.columns.durationMillis!;
  const each = total === undefined ? 'toInt128(`@events`)' : '`@total`';
  return `SELECT sumIf(least(${each}, toInt128(${parameters.int64(cap)})), isNotNull(\`@vid\`)), sumIf(\`@events\`, isNull(\`@vid\`))
FROM ${peopleSql(query, table, { ...options, total }, parameters)}`;
}

/**
 * The number of rows in a response that lists people. A hash of the VID decides which row a person is in. Rows without
 * people are sent too, so a response with fewer than `SLOTS` rows was cut short.
 */
export const SLOTS = 1024;

/**
 * Writes a statement whose result has `SLOTS` rows, sorted by slot number. Each row has its slot number, the VIDs of
 * its people, and the frequencies of these people.
 */
export function peopleRowsSql(
  query: SourceQuery,
  table: Table,
  { cap, form, ...options }: FigureOptions & { cap: number; form: VidForm },
  parameters: Parameters,
): string {
  const vid = 'ifNull(`@vid`, 0)';
  const sent = form === 'whole' ? vid : `toUInt32(if(${vid} BETWEEN 1 AND ${MAX_VID}, ${vid}, 0))`;
  const frequency = `toUInt8(if(isNull(\`@vid\`), 0, least(\`@events\`, ${parameters.int64(cap)})))`;
  return `SELECT toUInt16(intHash32(${vid}) % ${SLOTS}) AS slot, groupArray(${sent}), groupArray(${frequency})
FROM ${peopleSql(query, table, options, parameters)} GROUP BY slot ORDER BY slot WITH FILL FROM 0 TO ${SLOTS}`;
}
