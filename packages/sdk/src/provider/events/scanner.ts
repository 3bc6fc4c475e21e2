/**
 * Computes counts and sums for the people whose events a query selects. Each query is checked before the source reads
 * any events.
 */
import { BUCKET_COUNT, bucketRange } from '@measurement-exchange/mpc/privacy/vidSampling';
import { RefusalError } from '../../refusals/refusalError.ts';
import { QueryStopped } from '../filter/errors.ts';
import { matchingOf } from './evaluation.ts';
import type { SelectionFilter } from './people.ts';
import type { EventQuery } from './query.ts';
import { checkQuery, type EventData, type Selection, vidColumnOf } from './selection.ts';
import type { EventReader, SourceQuery, SourceSelection, Summed, VidForm, VidsOf, Watch } from './source.ts';

/**
 * Receives a batch of people, in which `frequencies[i]` belongs to `vids[i]`. The arrays are not reused, so the
 * receiver is allowed to keep them.
 */
export type TakePeople<Vids> = (vids: Vids, frequencies: Uint8Array) => void | Promise<void>;

const MAX_FREQUENCY = 100_000;
const MAX_BYTE = 255;

export interface ScannerOptions {
  timeoutSeconds: number;
  onWarning?: ((message: string) => void) | undefined;
}

export class Scanner {
  private readonly data: EventData;
  private readonly options: ScannerOptions;

  constructor(data: EventData, options: ScannerOptions) {
    this.data = data;
    this.options = options;
  }

  async frequencies(query: EventQuery, maximumFrequency: number): Promise<bigint[]> {
    requireWhole('maximumFrequency', maximumFrequency, MAX_FREQUENCY);
    const { counts, missing } = await this.scan(query, (reader, checked) =>
      reader.histogram(checked, maximumFrequency),
    );
    this.warnOfMissing(missing);
    return counts;
  }

  /**
   * Passes the people to `take` in batches. An entry with VID 0 and frequency 0 stands for all events without a VID.
   */
  async people<F extends VidForm>(
    query: EventQuery,
    maximumFrequency: number,
    form: F,
    take: TakePeople<VidsOf<F>>,
  ): Promise<void> {
    requireWhole('maximumFrequency', maximumFrequency, MAX_BYTE);
    await this.scan(query, async (reader, checked) => {
      for await (const { vids, frequencies } of reader.people(checked, maximumFrequency, form)) {
        if (frequencies.includes(0)) this.options.onWarning?.('Events without a VID were left out.');
        await take(vids, frequencies);
      }
    });
  }

  async cappedSum(query: EventQuery, what: Summed, cap: bigint): Promise<bigint> {
    const { sum, missing } = await this.scan(query, (reader, checked) =>
      reader.cappedSum(checked, what, cap),
    );
    this.warnOfMissing(missing);
    return sum;
  }

  /** Checks the query, and computes a figure over its events. */
  private async scan<T>(
    query: EventQuery,
    figure: (reader: EventReader, query: SourceQuery) => Promise<T>,
  ): Promise<T> {
    const { source } = this.data;
    const { timeoutSeconds } = this.options;
    const { selections } = await checkQuery(query, this.data);
    const timeout = AbortSignal.timeout(timeoutSeconds * 1000);
    const signal = query.signal ? AbortSignal.any([query.signal, timeout]) : timeout;
    const figures = source.read({ signal, onProgress: query.onProgress }, (reader) =>
      figure(reader, this.checked({ ...query, signal }, selections, reader)),
    );
    return figures.catch((error) => {
      if (error !== timeout.reason) throw error;
      throw new QueryStopped(`The query takes more than ${timeoutSeconds} s, see timeoutSeconds.`);
    });
  }

  /**
   * Returns the query for the source. If SQL cannot fully express a filter, CEL evaluates the rest of the filter later,
   * when the source reads `matching.rows`.
   */
  private checked(query: EventQuery, selections: Selection[], reader: EventReader): SourceQuery {
    const { signal } = query;
    const vid = vidColumnOf(query, this.data);
    const evaluated = Map.groupBy(
      selections.filter(({ filter }) => filter?.compiled.rest !== undefined),
      ({ filter }) => filter!,
    );
    const stage = stages(evaluated.size + 1, query.onProgress);
    const matching = new Map(
      [...evaluated].map(([filter, some], i) => {
        const part = { vid, selections: some.map((each) => inSql(each)), signal, onProgress: stage(i) };
        return [filter, matchingOf(filter, reader, part, this.data.maximumCombinations)];
      }),
    );
    return {
      vid,
      selections: selections.map((each) => ({
        ...inSql(each),
        matching: matching.get(each.filter as SelectionFilter),
      })),
      buckets: bucketsOf(query),
      signal,
      onProgress: stage(evaluated.size),
    };
  }

  private warnOfMissing(count: bigint): void {
    if (count > 0n) this.options.onWarning?.(`${count} events have no VID and were left out.`);
  }
}

const inSql = ({ references, interval, vids, filter }: Selection): SourceSelection => ({
  references,
  interval,
  vids,
  sql: filter?.compiled.sql,
});

/**
 * Returns the buckets of VID hashes that are in the sample. Returns undefined if every bucket is in the sample,
 * because no VID then needs to be hashed.
 */
function bucketsOf({ vidSampling }: EventQuery): SourceQuery['buckets'] {
  const range = bucketRange(vidSampling);
  return range.from === 0 && range.to === BUCKET_COUNT ? undefined : range;
}

export function requireWhole(field: string, value: number, maximum: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= maximum) return;
  throw outOfRange(field, `a whole number from 1 to ${maximum}`);
}

export function outOfRange(field: string, range: string): RefusalError {
  return new RefusalError('VALUE_OUT_OF_RANGE', `${field} must be ${range}.`);
}

/**
 * Returns a function that creates the progress callback for each of `count` scans. Together, the callbacks report one
 * rising percentage.
 */
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
