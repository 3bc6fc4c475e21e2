/** Computes exact figures over a provider's events in Parquet or CSV, before noise is added. */
import { MAX_VID } from '@measurement-exchange/contract';
import type { AttributeType } from '../filters/types.ts';
import { RefusalError } from '../refusals/refusalError.ts';
import { type ColumnNames, type Columns, resolveColumns } from './events/columns.ts';
import { type Engine, localFiles, startEngine, type Watch } from './events/engine.ts';
import { inventoryOf, type ReferenceInventory } from './events/inventory.ts';
import { type EventsOverview, type OverviewOptions, overviewOf } from './events/overview.ts';
import type { EventQuery } from './events/query.ts';
import { outOfRange, requireWhole, Scanner, type TakePeople } from './events/scanner.ts';
import { selectionsOf } from './events/selection.ts';
import { type Source, sourceOf } from './events/source.ts';
import { verifyFiles } from './events/verifyFiles.ts';

export type { AttributeType } from '../filters/types.ts';
export type { ColumnNames } from './events/columns.ts';
export { EventsUnavailable, QueryFailed, type Watch } from './events/engine.ts';
export type { ReferenceInventory } from './events/inventory.ts';
export type {
  AttributeOverview,
  ColumnOverview,
  EventsOverview,
  OverviewOptions,
  VidRanges,
} from './events/overview.ts';
export type { EventGroupSelection, EventQuery } from './events/query.ts';
export type { TakePeople } from './events/scanner.ts';

/** Options for `openEvents`. */
export interface EventsConfig {
  /** Local paths. Patterns such as `events/*.parquet` are expanded at each query. */
  files: string | string[];
  /**
   * The file format. Default: CSV if the first file has a CSV extension (`.csv`, `.tsv`, `.csv.gz` …), otherwise Parquet.
   */
  format?: 'parquet' | 'csv';
  columns?: ColumnNames;
  /** The query engine's memory limit. Beyond this limit, the engine uses the disk. Default: `512MB`. */
  memoryLimit?: string;
  /** The number of threads of the query engine. Default: one per core. */
  threads?: number;
  /**
   * The maximum number of distinct combinations of attribute values in the selected events. It applies to filters that the
   * engine cannot run, which are evaluated once per combination. Default: 1,000,000. A lower limit allows filters that take
   * longer for each combination.
   */
  maximumCombinations?: number;
  /** The time limit for one query, in seconds. Default: 600. */
  timeoutSeconds?: number;
  /** Called when events are ignored, such as events without a VID. */
  onWarning?(message: string): void;
}

/** A provider's events. Call `close` when done. */
export interface Events {
  /** The attributes that filters may use. */
  readonly attributes: Readonly<Record<string, AttributeType>>;
  readonly hasDuration: boolean;
  /**
   * Checks all files for errors that would make a query fail. Throws EventsUnavailable, which names the file and the line.
   */
  verify(watch?: Watch): Promise<void>;
  /**
   * Checks a query without reading events. Throws a RefusalError, such as FilterError or QueryStopped, if the query can
   * never be computed.
   */
  check(query: EventQuery): Promise<void>;
  /**
   * Lists the event group references in the events, with exact counts. Only the operator may see the counts, and no
   * response may depend on them.
   */
  inventory(watch?: Watch): Promise<ReferenceInventory[]>;
  /** Describes the events as a whole. Only the operator may see this description. */
  overview(options?: OverviewOptions): Promise<EventsOverview>;
  /** Returns how many people have 1, 2, … `maximumFrequency` events. The last count includes people with more events. */
  frequencies(query: EventQuery, maximumFrequency: number): Promise<bigint[]>;
  /**
   * Calls `take` with batches of people and their event counts, in no particular order. A count is at most
   * `maximumFrequency`. Each call waits for the previous call. A VID outside 1 to MAX_VID is passed as 0.
   */
  people(query: EventQuery, maximumFrequency: number, take: TakePeople<Uint32Array>): Promise<void>;
  /** Like `people`, but passes every VID unchanged. */
  allPeople(query: EventQuery, maximumFrequency: number, take: TakePeople<BigInt64Array>): Promise<void>;
  /** Counts events, at most `maximumPerUser` per person. */
  impressions(query: EventQuery, maximumPerUser: number): Promise<bigint>;
  /** Sums the milliseconds watched, at most `maximumMillisPerUser` per person. */
  watchDurationMillis(query: EventQuery, maximumMillisPerUser: bigint): Promise<bigint>;
  close(): Promise<void>;
}

/** Opens events in Parquet or CSV, and checks that the required columns exist and have suitable types. */
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
  const scanner = new Scanner(data, { timeoutSeconds, onWarning: config.onWarning?.bind(config) });
  return {
    attributes,
    hasDuration: columns.durationMillis !== undefined,
    verify: (watch = {}) => verifyFiles(data, config.columns ?? {}, watch),
    check: async (query) => void (await selectionsOf(query, data)),
    inventory: (watch = {}) => inventoryOf(engine, source, columns, watch),
    overview: (options = {}) => overviewOf(data, config.columns ?? {}, options),
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

/** SQL expression: the VID, or 0 if the VID is outside 1 to MAX_VID. */
const SMALL_VID = `CAST(CASE WHEN vid BETWEEN 1 AND ${MAX_VID} THEN vid ELSE 0 END AS UINTEGER)`;
const MAXIMUM_COMBINATIONS = 1_000_000;
const TIMEOUT_SECONDS = 600;
const MAX_PER_USER = 2 ** 31 - 1;
const MAX_MILLIS = 2n ** 63n - 1n;
