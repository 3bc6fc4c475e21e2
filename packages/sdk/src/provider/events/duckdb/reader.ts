/**
 * Computes counts and sums over the sampled people. Each query reads the event files once, plus once for each filter
 * that SQL cannot fully express. CEL evaluates the rest of such a filter.
 */
import {
  BIGINT,
  type DuckDBConnection,
  DuckDBTimestampValue,
  type DuckDBValue,
  VARCHAR,
} from '@duckdb/node-api';
import type { AttributeValue } from '../../../filters/types.ts';
import { MAX_VID } from '../buckets.ts';
import type { EventReader, People, SourceQuery, Summed, VidForm, VidsOf, Watch } from '../source.ts';
import { conditionOf, type Writer } from '../statement.ts';
import { DUCKDB_TYPES } from './columns.ts';
import { chunksOf, peopleOf, rowsOf } from './engine.ts';
import type { Opened } from './files.ts';
import { MatchingTables } from './matching.ts';
import { inRange, withBucket } from './sampling.ts';
import { Parameters } from './sql.ts';

/** For each form of VIDs: the SQL expression that converts a VID to this form, and the type of the result's array. */
const FORMS: { [F in VidForm]: { sql: string; array: new (length: number) => VidsOf<F> } } = {
  small: {
    sql: `CAST(CASE WHEN vid BETWEEN 1 AND ${MAX_VID} THEN vid ELSE 0 END AS UINTEGER)`,
    array: Uint32Array,
  },
  whole: { sql: 'coalesce(vid, 0)', array: BigInt64Array },
};

export class FileReader implements EventReader {
  private readonly opened: Opened;
  private readonly connection: DuckDBConnection;
  private readonly follow: (onProgress: Watch['onProgress']) => void;
  private readonly tables: MatchingTables;

  /** `follow` sets the callback for the progress of the connection's statements. */
  constructor(
    opened: Opened,
    connection: DuckDBConnection,
    follow: (onProgress: Watch['onProgress']) => void,
  ) {
    this.opened = opened;
    this.connection = connection;
    this.follow = follow;
    this.tables = new MatchingTables(connection, opened.columns);
  }

  /**
   * Streams the distinct combinations of attribute values on a connection of its own. During the stream, the reader
   * writes the matching combinations to a temporary table. On the same connection, this writing would end the stream.
   */
  combinations(
    query: SourceQuery,
    attributes: readonly string[],
    limit: number,
  ): AsyncIterable<AttributeValue[][]> {
    const { engine, table, columns } = this.opened;
    const values = attributes.map((name) => columns.attributes.get(name)!.sql);
    const parameters = new Parameters();
    const sql = `SELECT DISTINCT ${values.join(', ')} FROM ${table.from(parameters)}
      WHERE ${conditionOf(query, this.writer(query, parameters))} LIMIT ${limit}`;
    return engine.stream(query, async function* (connection) {
      for await (const rows of chunksOf(connection, sql, parameters)) {
        yield rows.map((row) => row.map(attributeValue));
      }
    });
  }

  async *people<F extends VidForm>(query: SourceQuery, cap: number, form: F): AsyncGenerator<People<F>> {
    const parameters = new Parameters();
    const people = await this.peopleSql(query, parameters);
    const { sql, array } = FORMS[form];
    const select = `SELECT ${sql},
      CAST(CASE WHEN vid IS NULL THEN 0 ELSE least(events, ${parameters.bind(BigInt(cap), BIGINT)})
      END AS UTINYINT) FROM ${people}`;
    yield* peopleOf<F>(this.connection, select, parameters, array);
  }

  async histogram(query: SourceQuery, max: number) {
    const parameters = new Parameters();
    const people = await this.peopleSql(query, parameters);
    const cap = parameters.bind(BigInt(max), BIGINT);
    const sql = `SELECT CASE WHEN vid IS NULL THEN 0 ELSE least(events, ${cap}) END AS k, count(*), sum(events)
      FROM ${people} GROUP BY k`;
    const rows = (await rowsOf(this.connection, sql, parameters)) as [bigint, bigint, bigint][];
    const counts = new Array<bigint>(max).fill(0n);
    for (const [k, users] of rows) if (k > 0n) counts[Number(k) - 1] = users;
    return { counts, missing: rows.find(([k]) => k === 0n)?.[2] ?? 0n };
  }

  async cappedSum(query: SourceQuery, what: Summed, cap: bigint) {
    const parameters = new Parameters();
    const people = await this.peopleSql(query, parameters, what);
    const sql = `SELECT sum(least(${what === 'events' ? 'events' : 'total'}, ${parameters.bind(cap, BIGINT)}))
        FILTER (WHERE vid IS NOT NULL), sum(events) FILTER (WHERE vid IS NULL) FROM ${people}`;
    const [row] = await rowsOf(this.connection, sql, parameters);
    const [sum, missing] = row as [bigint | null, bigint | null];
    return { sum: sum ?? 0n, missing: missing ?? 0n };
  }

  /**
   * Writes a table expression that groups the selected events by person and keeps the sampled people. The column
   * `events` has each person's event count. If `what` is a duration, the column `total` has each person's total
   * duration in milliseconds. Events without a VID form one group.
   */
  private async peopleSql(query: SourceQuery, parameters: Parameters, what: Summed = 'events') {
    const { table, columns } = this.opened;
    for (const { matching } of query.selections) if (matching) await this.tables.fill(matching);
    this.follow(query.onProgress);
    const from = `${table.from(parameters)}${this.tables.join()}`;
    const carried = what === 'events' ? 'events' : 'events, total';
    const count = columns.count === undefined ? 'count(*)' : `sum(${columns.count})`;
    const sum = what === 'events' ? '' : `, sum(${columns.durationMillis}) AS total`;
    const people = `(SELECT ${columns.vids.get(query.vid)} AS vid, ${count} AS events${sum}
      FROM ${from} WHERE ${conditionOf(query, this.writer(query, parameters))} GROUP BY ALL)`;
    if (query.buckets === undefined) return people;
    return `(SELECT vid, ${carried} FROM ${withBucket(people, carried)} WHERE vid IS NULL OR ${inRange(query.buckets)})`;
  }

  private writer({ vid }: SourceQuery, parameters: Parameters): Writer {
    const { columns } = this.opened;
    return {
      bind: (value, type) => {
        const bound = type === 'timestamp' ? new DuckDBTimestampValue(value as bigint) : value;
        return parameters.bind(bound, DUCKDB_TYPES[type]);
      },
      attribute: (name) => columns.attributes.get(name)!.sql,
      vid: columns.vids.get(vid)!,
      references: (references) => {
        const bound = references.map((reference) => parameters.bind(reference, VARCHAR));
        return `${columns.eventGroup} IN (${bound.join(', ')})`;
      },
      within: (interval) => columns.within(interval, parameters),
      matched: (matching) => this.tables.matched(matching),
      hasEvents: columns.count && `${columns.count} > 0`,
    };
  }
}

const attributeValue = (value: DuckDBValue) =>
  value instanceof DuckDBTimestampValue ? value.micros : (value as AttributeValue);
