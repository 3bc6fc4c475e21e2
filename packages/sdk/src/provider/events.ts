/** Exact figures over a provider's events in Parquet or CSV, before any noise. */
import { MAX_VID } from '@measurement-exchange/contract';
import { RefusalError } from '../refusals/refusalError.ts';
import { type ColumnNames, type Columns, resolveColumns } from './events/columns.ts';
import { type Engine, localFiles, startEngine, type Watch } from './events/engine.ts';
import { inventoryOf, type ReferenceInventory } from './events/inventory.ts';
import type { EventQuery } from './events/query.ts';
import { outOfRange, requireWhole, Scanner, type TakePeople } from './events/scanner.ts';
import { selectionsOf } from './events/selection.ts';
import { type Source, sourceOf } from './events/source.ts';
import type { AttributeType } from './filter/types.ts';

export type { ColumnNames } from './events/columns.ts';
export { EventsUnavailable, QueryFailed, type Watch } from './events/engine.ts';
export type { ReferenceInventory } from './events/inventory.ts';
export type { EventGroupSelection, EventQuery } from './events/query.ts';
export type { TakePeople } from './events/scanner.ts';
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
  const onWarning = config.onWarning && ((message: string) => config.onWarning!(message));
  const scanner = new Scanner(data, { timeoutSeconds, onWarning });
  return {
    attributes,
    hasDuration: columns.durationMillis !== undefined,
    check: async (query) => void (await selectionsOf(query, data)),
    inventory: (watch = {}) => inventoryOf(engine, source, columns, watch),
    frequencies: (query, maximumFrequency) => scanner.frequencies(query, maximumFrequency),
    people: (query, maximumFrequency, take) =>
      scanner.people(query, maximumFrequency, Uint32Array, SMALL_VID, take),
    allPeople: (query, maximumFrequency, take) =>
      scanner.people(query, maximumFrequency, BigInt64Array, 'coalesce(vid, 0)', take),

    async impressions(query, maximumPerUser) {
      requireWhole('maximumPerUser', maximumPerUser, MAX_PER_USER);
      return scanner.cappedSum(query, undefined, BigInt(maximumPerUser));
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
      return scanner.cappedSum(query, columns.durationMillis, maximumMillisPerUser);
    },

    close: () => engine.close(),
  };
}

/** 0 for one that no population can hold. */
const SMALL_VID = `CAST(CASE WHEN vid BETWEEN 1 AND ${MAX_VID} THEN vid ELSE 0 END AS UINTEGER)`;
const MAXIMUM_COMBINATIONS = 1_000_000;
const TIMEOUT_SECONDS = 600;
const MAX_PER_USER = 2 ** 31 - 1;
const MAX_MILLIS = 2n ** 63n - 1n;
