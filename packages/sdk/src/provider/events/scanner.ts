/** Computes figures over the sampled people in one pass over the event files. */
import { BIGINT, type DuckDBConnection } from '@duckdb/node-api';
import { bucketRange } from '@measurement-exchange/mpc/privacy/vidSampling';
import { RefusalError } from '../../refusals/refusalError.ts';
import { QueryStopped } from '../filter/errors.ts';
import { peopleOf, rowsOf, type Vids, type Watch } from './engine.ts';
import { evaluate, evaluationsOf, joinOf, matchedSql } from './evaluation.ts';
import type { EventQuery } from './query.ts';
import { inRange, isEverybody, withBucket } from './sampling.ts';
import { conditionOf, type EventData, selectionsOf } from './selection.ts';
import { Parameters } from './sql.ts';

/**
 * Receives a batch of people, in which `frequencies[i]` belongs to `vids[i]`. The receiver may keep the arrays, because
 * they are not reused.
 */
export type TakePeople<Vids> = (vids: Vids, frequencies: Uint8Array) => void | Promise<void>;

type Figure = (people: string, parameters: Parameters) => string;
type Read<T> = (connection: DuckDBConnection, sql: string, parameters: Parameters) => Promise<T>;

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
    const histogram = new Array<bigint>(maximumFrequency).fill(0n);
    const histogramOf: Figure = (people, parameters) => {
      const cap = parameters.bind(BigInt(maximumFrequency), BIGINT);
      return `SELECT CASE WHEN vid IS NULL THEN 0 ELSE least(events, ${cap}) END AS k, count(*), sum(events)
        FROM ${people} GROUP BY k`;
    };
    const rows = await this.scan(query, undefined, histogramOf, rowsOf);
    for (const [k, users, events] of rows as [bigint, bigint, bigint][]) {
      if (k === 0n) this.warnOfMissing(events);
      else histogram[Number(k) - 1] = users;
    }
    return histogram;
  }

  /** Passes the people to `take` in batches. All events without a VID form one row, the only row with a frequency of 0. */
  async people<V extends Vids>(
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
    await this.scan(query, undefined, each, async (connection, sql, parameters) => {
      for await (const { vids, frequencies } of peopleOf(connection, sql, parameters, ofVids)) {
        if (frequencies.includes(0)) this.options.onWarning?.('Events without a VID were left out.');
        await take(vids, frequencies);
      }
    });
  }

  async cappedSum(query: EventQuery, total: string | undefined, cap: bigint): Promise<bigint> {
    const each = total === undefined ? 'events' : 'total';
    const [row] = await this.scan(
      query,
      total,
      (people, parameters) =>
        `SELECT sum(least(${each}, ${parameters.bind(cap, BIGINT)})) FILTER (WHERE vid IS NOT NULL),
           sum(events) FILTER (WHERE vid IS NULL) FROM ${people}`,
      rowsOf,
    );
    const [sum, missing] = row as [bigint | null, bigint | null];
    this.warnOfMissing(missing);
    return sum ?? 0n;
  }

  /**
   * Groups the selected events by person in one pass over the files, then computes `figure` over the sampled people. The
   * column `events` has each person's event count. If the expression `total` is given, the column `total` has its sum.
   * Events without a VID form one group, so that they can be reported.
   */
  private async scan<T>(
    query: EventQuery,
    total: string | undefined,
    figure: Figure,
    read: Read<T>,
  ): Promise<T> {
    const { data } = this;
    const { engine, source, columns } = data;
    const { timeoutSeconds } = this.options;
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

  private warnOfMissing(count: bigint | null): void {
    if (count) this.options.onWarning?.(`${count} events have no VID and were left out.`);
  }
}

export function requireWhole(field: string, value: number, maximum: number): void {
  if (Number.isInteger(value) && value >= 1 && value <= maximum) return;
  throw outOfRange(field, `a whole number from 1 to ${maximum}`);
}

export function outOfRange(field: string, range: string): RefusalError {
  return new RefusalError('VALUE_OUT_OF_RANGE', `${field} must be ${range}.`);
}

/** Combines the progress of consecutive scans into one percentage that never decreases. */
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
