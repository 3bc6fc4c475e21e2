/**
 * A store of events: files, or a table in a warehouse. A source only runs SQL. Its caller checks each query and charges
 * the privacy budget before the source reads events.
 */
import type { AttributeType, AttributeValue } from '../../filters/types.ts';
import type { DialectName } from '../filter/dialect.ts';
import type { SqlTemplate } from '../filter/requests.ts';
import type { BucketRange } from './buckets.ts';

/** Options for canceling a query and following its progress. */
export interface Watch {
  signal?: AbortSignal | undefined;
  /** Called during the scan with the percentage done, 0 to 100. */
  onProgress?: ((percent: number) => void) | undefined;
}

export interface EventSource {
  /** The SQL dialect of the filters. */
  readonly dialect: DialectName;
  /** The columns with a role: every VID column, then timestamp, eventGroup, duration, and count. */
  readonly columns: readonly SourceColumn[];
  /** The attributes that filters may use. */
  readonly attributes: Readonly<Record<string, AttributeType>>;
  /**
   * Whether a statement can compare the timestamp column exactly with this time. This is possible for some times
   * outside of the range of the column, too.
   */
  canHold(time: Date): boolean;
  /**
   * Runs `work` with a reader. All statements of a reader see the same events, if the store supports that. Progress is
   * reported to each query's own `onProgress`, and never to `watch.onProgress`. Because tracking progress takes time,
   * some sources track progress only if `watch.onProgress` is set. Therefore, a caller that wants progress must also
   * set `watch.onProgress`.
   */
  read<T>(watch: Watch, work: (reader: EventReader) => Promise<T>): Promise<T>;
  /**
   * Returns the event group references with the most rows, at most `limit` of them, in descending order of row count.
   * Leaves out rows without a reference.
   */
  references(limit: number, watch: Watch): Promise<ReferenceInventory[]>;
  /** Describes all rows, for the operator. */
  overview(watch: Watch): Promise<SourceOverview>;
  /** Counts the distinct VIDs in a VID column, and how many of them are outside of the population. */
  countVids(vid: string, population: VidRanges | undefined, watch: Watch): Promise<VidCounts>;
  /**
   * Checks everything that a query relies on. If a check fails, throws EventsUnavailable with a remedy. If the events
   * are on a server, opening the source also runs these checks.
   */
  selfTest(watch: Watch): Promise<void>;
  /** Ends all running statements, which then throw EventsUnavailable. */
  close(): Promise<void>;
}

export type ColumnRole = 'vid' | 'timestamp' | 'eventGroup' | 'duration' | 'count';

export interface SourceColumn {
  role: ColumnRole;
  name: string;
  /** The engine's name for the type, such as `BIGINT`. */
  type: string;
  nullable: boolean;
}

/** A summary of the events with one event group reference. */
export interface ReferenceInventory {
  reference: string;
  rows: number;
  /** The number of UTC days with events. */
  days: number;
  /** A UTC day such as `2026-07-28`. */
  firstDay: string;
  lastDay: string;
}

export interface SourceOverview {
  /** The number of files. Absent if the events are in a table. */
  files?: number;
  rows: number;
  /** The first and the last UTC day, such as `2026-07-28`. Absent if no row has a timestamp. */
  firstDay?: string;
  lastDay?: string;
  /** The number of NULLs in each of the source's `columns`. */
  nulls: number[];
  attributes: { name: string; nulls: number; distinct: number }[];
}

/** Ranges of VIDs that do not overlap. Both ends are included. */
export type VidRanges = readonly { start: bigint; end: bigint }[];

export interface VidCounts {
  people: number;
  /** The number of distinct VIDs outside of the population, or 0 if no population was given. */
  outside: number;
}

/**
 * Reads the events of a query. The query's `signal` stops a statement. The reader may call the query's `onProgress`.
 */
export interface EventReader {
  /**
   * Streams the distinct combinations of attribute values in the selected events, at most `limit` rows. Integers are
   * bigints, timestamps are bigints in microseconds since 1970, and an absent value is null. Ignores `query.buckets`.
   */
  combinations(
    query: SourceQuery,
    attributes: readonly string[],
    limit: number,
  ): AsyncIterable<AttributeValue[][]>;
  /**
   * Streams the sampled people with their event counts, which are cut off at `cap` (at most 255). Each person has one
   * entry. All events without a VID form one entry with VID 0, the only entry with frequency 0. Arrays are not reused.
   */
  people<F extends VidForm>(query: SourceQuery, cap: number, form: F): AsyncIterable<People<F>>;
  /**
   * Returns how many sampled people have 1, 2, … `max` events. The last count includes people with more events.
   * `missing` is the number of events without a VID.
   */
  histogram(query: SourceQuery, max: number): Promise<{ counts: bigint[]; missing: bigint }>;
  /**
   * Sums the events or the milliseconds watched, at most `cap` for each sampled person. `missing` is the number of
   * events without a VID.
   */
  cappedSum(query: SourceQuery, what: Summed, cap: bigint): Promise<{ sum: bigint; missing: bigint }>;
}

export type Summed = 'events' | 'durationMillis';

/** `small`: a VID outside 1 to MAX_VID (see buckets.ts) is passed as 0. `whole`: every VID is passed unchanged. */
export type VidForm = 'small' | 'whole';

export interface People<F extends VidForm> {
  vids: VidsOf<F>;
  /** `frequencies[i]` belongs to `vids[i]`. */
  frequencies: Uint8Array;
}
export type VidsOf<F extends VidForm> = F extends 'small' ? Uint32Array : BigInt64Array;

/** A checked query. An event counts once, even if it is in several selections. No selections means no events. */
export interface SourceQuery extends Watch {
  /** The name of the VID column. */
  vid: string;
  selections: SourceSelection[];
  /**
   * The buckets of the sampled people. Absent: all. Events without a VID are always read, so that they can be reported.
   */
  buckets?: BucketRange | undefined;
}

export interface SourceSelection {
  references: string[];
  /** Includes `start`, but not `end`. */
  interval: { start: Date; end: Date };
  /**
   * The VIDs whose events are selected. Absent: events with any VID are selected, and events without a VID are, too.
   */
  vids?: VidRanges | undefined;
  /** The part of the filter that runs in SQL. An event is selected only if this SQL gives true, not false or NULL. */
  sql?: SqlTemplate | undefined;
  /** The part of the filter that CEL evaluates. Several selections may share one `Matching` object. */
  matching?: Matching | undefined;
}

/**
 * An event matches if its values of `attributes` equal the values in one of the `rows`. Two absent values are equal.
 */
export interface Matching {
  attributes: readonly string[];
  /**
   * The matching combinations, which come from `combinations` of the same reader. The reader must read all rows once,
   * before it starts the statement that needs them. If reading the rows throws, the reader must throw the same error.
   */
  rows: AsyncIterable<AttributeValue[][]>;
}
