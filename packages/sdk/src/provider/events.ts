/** Computes exact figures over a provider's events, before noise is added. */
import type { AttributeType } from '../filters/types.ts';
import { RefusalError } from '../refusals/refusalError.ts';
import type { ColumnNames } from './events/columns.ts';
import type { FilesSource } from './events/duckdb/source.ts';
import { type EventsOverview, type OverviewOptions, overviewOf } from './events/overview.ts';
import { filterAttributes } from './events/people.ts';
import type { EventQuery } from './events/query.ts';
import { outOfRange, requireWhole, Scanner, type TakePeople } from './events/scanner.ts';
import { checkQuery, type SelectedPeople } from './events/selection.ts';
import type { EventSource, ReferenceInventory, Watch } from './events/source.ts';
import { openSource, type ServerSource, type SourceConfig } from './events/sources.ts';
import type { Population } from './population.ts';

export type { AttributeType } from '../filters/types.ts';
export type { ClickHouseSource } from './events/clickhouse/source.ts';
export type { ColumnNames } from './events/columns.ts';
export type { RemoteFiles } from './events/duckdb/remote.ts';
export { EventsUnavailable, QueryFailed } from './events/errors.ts';
export type {
  AttributeOverview,
  ColumnOverview,
  EventsOverview,
  OverviewOptions,
  VidOverview,
} from './events/overview.ts';
export type { PostgresSource } from './events/postgres/connection.ts';
export type { EventGroupSelection, EventQuery } from './events/query.ts';
export type { TakePeople } from './events/scanner.ts';
export type { SelectedPeople } from './events/selection.ts';
export type { ReferenceInventory, VidRanges, Watch } from './events/source.ts';
export type { ServerSource } from './events/sources.ts';

/** Options for `openEvents`. Either `files` or `source` says where the events are. */
export interface EventsConfig extends Partial<Omit<FilesSource, 'kind'>> {
  /** The table with the events, if the events are on a server. The options for files do not apply to this table. */
  source?: ServerSource;
  columns?: ColumnNames;
  /**
   * The VID column of each model line, for events with VIDs from several model lines. Requisitions for other model
   * lines are refused. Default: the column `columns.vid` for every model line.
   */
  vidColumns?: Readonly<Record<string, string>>;
  /**
   * The provider's population. Filters can use its attributes as `person.<attribute>`. An event's VID determines the
   * values of these attributes. Filters cannot use event columns whose names begin with `person.`.
   */
  population?: Population | undefined;
  /**
   * The maximum number of distinct combinations of attribute values in the selected events. Default: 1,000,000. The
   * limit applies to filters that the engine cannot run, which are evaluated once per combination. The lower the limit,
   * the more steps these filters together are allowed to take for each combination.
   */
  maximumCombinations?: number;
  /** The time limit for one query, in seconds. Default: 600. */
  timeoutSeconds?: number;
  /** Called when events are ignored, such as events without a VID. */
  onWarning?(message: string): void;
}

/** A provider's events. Call `close` when done. */
export interface Events {
  /** The attributes that filters can use, including those of the population. */
  readonly attributes: Readonly<Record<string, AttributeType>>;
  readonly hasDuration: boolean;
  /**
   * Checks the events for errors that would make a query fail. Throws EventsUnavailable, which names the file (and the
   * line of a CSV file), or describes the problem with the server.
   */
  verify(watch?: Watch): Promise<void>;
  /**
   * Checks a query without reading events, and returns the people whose events can affect the query's result. Throws a
   * RefusalError, such as FilterError or QueryStopped, if the query can never be computed.
   */
  check(query: EventQuery): Promise<SelectedPeople>;
  /**
   * Lists the event group references in the events, with exact counts. Only the operator is allowed to see the counts,
   * and no response is allowed to depend on them.
   */
  inventory(watch?: Watch): Promise<ReferenceInventory[]>;
  /** Describes the events as a whole. Only the operator is allowed to see this description. */
  overview(options?: OverviewOptions): Promise<EventsOverview>;
  /**
   * Returns how many people have 1, 2, … `maximumFrequency` events. The last count includes people with more events.
   */
  frequencies(query: EventQuery, maximumFrequency: number): Promise<bigint[]>;
  /**
   * Calls `take` with batches of people and their event counts, in no particular order. A count is at most
   * `maximumFrequency`. Each call waits for the previous call. A VID outside 1 to MAX_VID is passed as 0.
   */
  people(query: EventQuery, maximumFrequency: number, take: TakePeople<Uint32Array>): Promise<void>;
  /** Like `people`, but passes every VID unchanged. */
  allPeople(query: EventQuery, maximumFrequency: number, take: TakePeople<BigInt64Array>): Promise<void>;
  impressions(query: EventQuery, maximumPerUser: number): Promise<bigint>;
  watchDurationMillis(query: EventQuery, maximumMillisPerUser: bigint): Promise<bigint>;
  close(): Promise<void>;
}

/** Opens the events, and checks that the required columns exist and have suitable types. */
export async function openEvents(config: EventsConfig): Promise<Events> {
  const { columns = {}, vidColumns } = config;
  if (vidColumns && columns.vid !== undefined) {
    throw new Error('columns.vid and vidColumns are both set: keep one of them.');
  }
  if (vidColumns && Object.keys(vidColumns).length === 0) {
    throw new Error('vidColumns must name the VID column of at least one model line.');
  }
  const vids = vidColumns && [...new Set(Object.values(vidColumns))];
  return eventsOf(await openSource(placeOf(config), { ...columns, vids }), config);
}

function placeOf({ source, files, timeoutSeconds = TIMEOUT_SECONDS, ...rest }: EventsConfig): SourceConfig {
  if (source !== undefined && files === undefined) return { ...source, timeoutSeconds };
  if (source === undefined && files !== undefined) return { ...rest, files, kind: 'files' };
  throw new Error('Either files or source must say where the events are.');
}

function eventsOf(source: EventSource, config: EventsConfig): Events {
  const { maximumCombinations = MAXIMUM_COMBINATIONS, timeoutSeconds = TIMEOUT_SECONDS } = config;
  const { population, vidColumns } = config;
  const data = { source, population, vidColumns, maximumCombinations };
  const scanner = new Scanner(data, { timeoutSeconds, onWarning: config.onWarning?.bind(config) });
  const hasDuration = source.columns.some(({ role }) => role === 'duration');
  return {
    attributes: filterAttributes(source.attributes, population),
    hasDuration,
    verify: (watch = {}) => source.selfTest(watch),
    check: async (query) => (await checkQuery(query, data)).people,
    inventory: (watch = {}) => source.references(MAX_REFERENCES, watch),
    overview: (options = {}) => overviewOf(source, options),
    frequencies: (query, maximumFrequency) => scanner.frequencies(query, maximumFrequency),
    people: (query, maximumFrequency, take) => scanner.people(query, maximumFrequency, 'small', take),
    allPeople: (query, maximumFrequency, take) => scanner.people(query, maximumFrequency, 'whole', take),

    async impressions(query, maximumPerUser) {
      requireWhole('maximumPerUser', maximumPerUser, MAX_PER_USER);
      return scanner.cappedSum(query, 'events', BigInt(maximumPerUser));
    },

    async watchDurationMillis(query, maximumMillisPerUser) {
      if (!hasDuration) {
        throw new RefusalError(
          'DURATION_NOT_OFFERED',
          'These events have no duration: set columns.duration.',
        );
      }
      if (maximumMillisPerUser < 1n || maximumMillisPerUser > MAX_MILLIS) {
        throw outOfRange('maximumMillisPerUser', `1 to ${MAX_MILLIS}`);
      }
      return scanner.cappedSum(query, 'durationMillis', maximumMillisPerUser);
    },

    close: () => source.close(),
  };
}

/** The maximum number of references in an inventory. An operator could not review a longer list. */
const MAX_REFERENCES = 10_000;
const MAXIMUM_COMBINATIONS = 1_000_000;
const TIMEOUT_SECONDS = 600;
const MAX_PER_USER = 2 ** 31 - 1;
const MAX_MILLIS = 2n ** 63n - 1n;
