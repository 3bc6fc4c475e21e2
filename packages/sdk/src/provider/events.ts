/** Exact figures over a provider's events in Parquet or CSV, before any noise. */
import { BIGINT, type DuckDBConnection } from '@duckdb/node-api';
import { MAX_VID } from '@measurement-exchange/contract';
import { bucketRange } from '@measurement-exchange/mpc/privacy/vidSampling';
import { RefusalError } from '../refusals/refusalError.ts';
import { type ColumnNames, type Columns, resolveColumns } from './events/columns.ts';
import {
  type Engine,
  localFiles,
  peopleOf,
  rowsOf,
  startEngine,
  type Vids,
  type Watch,
} from './events/engine.ts';
import { evaluate, evaluationsOf, joinOf, matchedSql } from './events/evaluation.ts';
import { inventoryOf, type ReferenceInventory } from './events/inventory.ts';
import type { EventQuery } from './events/query.ts';
import { inRange, isEverybody, withBucket } from './events/sampling.ts';
import { conditionOf, selectionsOf } from './events/selection.ts';
import { type Source, sourceOf } from './events/source.ts';
import { Parameters } from './events/sql.ts';
import { QueryStopped } from './filter/errors.ts';
import type { AttributeType } from './filter/types.ts';

export type { ColumnNames } from './events/columns.ts';
export { EventsUnavailable, QueryFailed, type Watch } from './events/engine.ts';
export type { ReferenceInventory } from './events/inventory.ts';
export type { EventGroupSelection, EventQuery } from './events/query.ts';
export type { AttributeType } from './filter/types.ts';

/** Where the events are and how to read them. */
export interface EventsConfig {
  /** Local paths; patterns such as `events/*.parquet` are allowed and expanded at each query. */
  files: string | string[];
  /** Default: by the first file's extension (`.csv`, `.tsv`, `.csv.gz` …), else Parquet. */
  format?: 'parquet' | 'csv';
  columns?: ColumnNames;
  /** Memory of the query engine before it spills to disk. Default `512MB`. */
  memoryLimit?: string;
  /** Default: one per core. */
  threads?: number;
  /**
   * How many combinations of the attributes that a filter uses may be in the selected events, where the filter cannot
   * run in the engine. Default 1,000,000. A lower value allows filters that take longer for each.
   */
  maximumCombinations?: number;
  /** How long one query may take. Default 600. */
  timeoutSeconds?: number;
  /** Called when events are left out, such as those without a VID. */
  onWarning?(message: string): void;
}

/** A provider's events. Close it when done. */
export interface Events {
  /** The attributes that filters may use. */
  readonly attributes: Readonly<Record<string, AttributeType>>;
  readonly hasDuration: boolean;
  /** Throws RefusalError (FilterError, QueryStopped) for a query that can never be computed. Reads no events. */
  check(query: EventQuery): Promise<void>;
  /** Which references the events have. For the operator: exact figures, from which nothing may follow for a requisition. */
  inventory(watch?: Watch): Promise<ReferenceInventory[]>;
  /** How many people have 1, 2, … F events; the last is "F or more". */
  frequencies(query: EventQuery, maximumFrequency: number): Promise<bigint[]>;
  /**
   * Hands over every person with how many events they have, at most `maximumFrequency`: some thousand people at a time,
   * in no order, the next ones when `take` is done. A VID that no population can hold comes as 0.
   */
  people(query: EventQuery, maximumFrequency: number, take: TakePeople<Uint32Array>): Promise<void>;
  /** The same with every VID as it is. */
  allPeople(query: EventQuery, maximumFrequency: number, take: TakePeople<BigInt64Array>): Promise<void>;
  /** Events, at most `maximumPerUser` of one person. */
  impressions(query: EventQuery, maximumPerUser: number): Promise<bigint>;
  /** Milliseconds watched, at most `maximumMillisPerUser` of one person. */
  watchDurationMillis(query: EventQuery, maximumMillisPerUser: bigint): Promise<bigint>;
  close(): Promise<void>;
}

/** Receives people: `frequencies[i]` is of `vids[i]`. The arrays are the receiver's to keep. */
export type TakePeople<Vids> = (vids: Vids, frequencies: Uint8Array) => void | Promise<void>;

/** Opens events in Parquet or CSV, and checks that the columns exist with suitable types. */
export async function openEvents(config: EventsConfig): Promise<Events> {
  const files = localFiles(config.files);
  const engine = await startEngine({ files, memoryLimit: config.memoryLimit, threads: config.threads });
  try {
    const source = await sourceOf(engine, files, config);
    return eventsOf(engine, source, resolveColumns(config.columns ?? {}, source.columns), config);
  } catch (error) {
    await engine.close();
    throw error;
  }
}

function eventsOf(engine: Engine, source: Source, columns: Columns, config: EventsConfig): Events {
  const attributes: Record<string, AttributeType> = Object.create(null);
  for (const [name, { type }] of columns.attributes) attributes[name] = type;
  const { maximumCombinations = MAXIMUM_COMBINATIONS, timeoutSeconds = TIMEOUT_SECONDS } = config;
  const data = { engine, source, columns, attributes, maximumCombinations };

  /**
   * One pass over the files: counts the `events` of each sampled person and, where `total` is given, sums it over
   * them; then computes `figure` over these people. Events without a VID form one group, to count those left out.
   */
  async function scan<T>(
    query: EventQuery,
    total: string | undefined,
    figure: Figure,
    read: Read<T>,
  ): Promise<T> {
    const selections = await selectionsOf(query, data);
    const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
    const signal = query.signal ? AbortSignal.any([query.signal, timeout]) : timeout;
    const evaluations = evaluationsOf(selections);
    const stage = stages(evaluations.length + 1, query.onProgress);
    const watch = (i: number) => ({ signal, onProgress: stage(i) });
    const figures = engine.use(watch(evaluations.length), async (connection) => {
      for (const [i, evaluation] of evaluations.entries()) {
        await evaluate(evaluation, connection, data, watch(i));
      }
      const parameters = new Parameters();
      const from = `${source.from(parameters)}${joinOf(evaluations, columns)}`;
      const conditions = selections.map((selection) => {
        const evaluation = evaluations.find(({ filter }) => filter === selection.filter);
        const matched = evaluation === undefined ? '' : ` AND ${matchedSql(evaluation)}`;
        return `(${conditionOf(selection, columns, parameters)}${matched})`;
      });
      const events = `${from} WHERE ${conditions.join(' OR ') || 'false'}`;
      const carried = total === undefined ? 'events' : 'events, total';
      const sum = total === undefined ? '' : `, sum(${total}) AS total`;
      const people = `(SELECT ${columns.vid} AS vid, count(*) AS events${sum} FROM ${events} GROUP BY ALL)`;
      const range = bucketRange(query.vidSampling);
      const sampled = isEverybody(range)
        ? people
        : `(SELECT vid, ${carried} FROM ${withBucket(people, carried)} WHERE vid IS NULL OR ${inRange(range)})`;
      return read(connection, figure(sampled, parameters), parameters);
    });
    return figures.catch((error) => {
      if (error !== timeout.reason) throw error;
      throw new QueryStopped(`The query takes more than ${timeoutSeconds} s, see timeoutSeconds.`);
    });
  }

  const warnOfMissing = (count: bigint | null) => {
    if (count) config.onWarning?.(`${count} events have no VID and were left out.`);
  };

  async function cappedSum(query: EventQuery, total: string | undefined, cap: bigint): Promise<bigint> {
    const each = total === undefined ? 'events' : 'total';
    const [row] = await scan(
      query,
      total,
      (people, parameters) =>
        `SELECT sum(least(${each}, ${parameters.bind(cap, BIGINT)})) FILTER (WHERE vid IS NOT NULL),
           sum(events) FILTER (WHERE vid IS NULL) FROM ${people}`,
      rowsOf,
    );
    const [sum, missing] = row as [bigint | null, bigint | null];
    warnOfMissing(missing);
    return sum ?? 0n;
  }

  /** Events without a VID are one row, the only one with a frequency of 0. */
  async function scanPeople<V extends Vids>(
    query: EventQuery,
    maximumFrequency: number,
    ofVids: new (length: number) => V,
    vid: string,
    take: TakePeople<V>,
  ): Promise<void> {
    requireWhole('maximumFrequency', maximumFrequency, MAX_BYTE);
    const each: Figure = (people, parameters) =>
      `SELECT ${vid},
         CAST(CASE WHEN vid IS NULL THEN 0 ELSE least(events, ${parameters.bind(BigInt(maximumFrequency), BIGINT)})
         END AS UTINYINT) FROM ${people}`;
    await scan(query, undefined, each, async (connection, sql, parameters) => {
      for await (const { vids, frequencies } of peopleOf(connection, sql, parameters, ofVids)) {
        if (frequencies.includes(0)) config.onWarning?.('Events without a VID were left out.');
        await take(vids, frequencies);
      }
    });
  }

  return {
    attributes,
    hasDuration: columns.durationMillis !== undefined,
    check: async (query) => void (await selectionsOf(query, data)),

    async frequencies(query, maximumFrequency) {
      requireWhole('maximumFrequency', maximumFrequency, MAX_FREQUENCY);
      const histogram = new Array<bigint>(maximumFrequency).fill(0n);
      const histogramOf: Figure = (people, parameters) => {
        const cap = parameters.bind(BigInt(maximumFrequency), BIGINT);
        return `SELECT CASE WHEN vid IS NULL THEN 0 ELSE least(events, ${cap}) END AS k, count(*), sum(events)
          FROM ${people} GROUP BY k`;
      };
      const rows = await scan(query, undefined, histogramOf, rowsOf);
      for (const [k, users, events] of rows as [bigint, bigint, bigint][]) {
        if (k === 0n) warnOfMissing(events);
        else histogram[Number(k) - 1] = users;
      }
      return histogram;
    },

    people: (query, maximumFrequency, take) =>
      scanPeople(query, maximumFrequency, Uint32Array, SMALL_VID, take),
    allPeople: (query, maximumFrequency, take) =>
      scanPeople(query, maximumFrequency, BigInt64Array, 'coalesce(vid, 0)', take),

    async impressions(query, maximumPerUser) {
      requireWhole('maximumPerUser', maximumPerUser, MAX_PER_USER);
      return cappedSum(query, undefined, BigInt(maximumPerUser));
    },

    async watchDurationMillis(query, maximumMillisPerUser) {
      if (columns.durationMillis === undefined) {
        throw new RefusalError(
          'DURATION_NOT_OFFERED',
          'These events have no duration: set columns.duration.',
        );
      }
      if (maximumMillisPerUser < 1n || maximumMillisPerUser > MAX_MILLIS) {
        throw outOfRange('maximumMillisPerUser', `1 to ${MAX_MILLIS}`);
      }
      return cappedSum(query, columns.durationMillis, maximumMillisPerUser);
    },

    inventory: (watch = {}) => inventoryOf(engine, source, columns, watch),

    close: () => engine.close(),
  };
}

type Figure = (people: string, parameters: Parameters) => string;
type Read<T> = (connection: DuckDBConnection, sql: string, parameters: Parameters) => Promise<T>;

/** 0 for one that no population can hold. */
const SMALL_VID = `CAST(CASE WHEN vid BETWEEN 1 AND ${MAX_VID} THEN vid ELSE 0 END AS UINTEGER)`;
const MAXIMUM_COMBINATIONS = 1_000_000;
const TIMEOUT_SECONDS = 600;
const MAX_FREQUENCY = 100_000;
const MAX_BYTE = 255;
const MAX_PER_USER = 2 ** 31 - 1;
const MAX_MILLIS = 2n ** 63n - 1n;

function requireWhole(field: string, value: number, maximum: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= maximum) return;
  throw outOfRange(field, `a whole number from 1 to ${maximum}`);
}

function outOfRange(field: string, range: string): RefusalError {
  return new RefusalError('VALUE_OUT_OF_RANGE', `${field} must be ${range}.`);
}

/** Combines the progress of several scans in a row into one that only grows. */
function stages(count: number, onProgress: Watch['onProgress']): (stage: number) => Watch['onProgress'] {
  if (onProgress === undefined) return () => undefined;
  let last = -1;
  return (stage) => (percent) => {
    const overall = (100 * stage + percent) / count;
    if (overall <= last) return;
    last = overall;
    onProgress(overall);
  };
}
