/**
 * Reads the events of a query. PostgreSQL lacks the hash function for sampling, so this process samples the people
 * after reading their rows.
 */
import type { AttributeValue } from '../../../filters/types.ts';
import { inBuckets, MAX_VID, sampleBucket } from '../buckets.ts';
import type { EventReader, People, SourceQuery, Summed, VidForm, VidsOf } from '../source.ts';
import type { Session } from './session.ts';
import { combinationsStatement, peopleStatement, type Table } from './statement.ts';
import { keyValue } from './types.ts';

/** A row of `peopleStatement`. The VID is null only in the row that stands for all events without a VID. */
type PeopleRow = [vid: string | null, value: string];

export function readerOf(session: Session, table: Table): EventReader {
  const statementOf = (query: SourceQuery, what: Summed, cap: bigint) => {
    session.follow(query.signal);
    return peopleStatement(table, query, what, cap);
  };
  /** Calls `take` with the value of each sampled person, and with the value for all events without a VID. */
  const eachValue = async (query: SourceQuery, what: Summed, cap: bigint, take: (value: string) => void) => {
    await session.each(await statementOf(query, what, cap), (row) => {
      const [vid, value] = row as PeopleRow;
      if (isSampled(query, vid)) take(value);
    });
  };
  /**
   * Computes aggregates on the server, for a query without sampling. `figure` writes the SQL that aggregates the rows
   * of `peopleStatement`.
   */
  const figures = async (
    query: SourceQuery,
    what: Summed,
    cap: bigint,
    figure: (people: string) => string,
  ) => {
    const { sql, values } = await statementOf(query, what, cap);
    return session.rows(figure(sql), values);
  };

  return {
    async *combinations(query, attributes, limit) {
      session.follow(query.signal);
      const types = attributes.map((name) => table.columns.attributes.get(name)!.type);
      const statement = await combinationsStatement(table, query, attributes, limit);
      yield* session.batches<AttributeValue[][]>(statement, {
        begin: () => [],
        add: (rows, row) => rows.push(row.map((text, i) => keyValue(text, types[i]!))),
      });
    },

    async *people<F extends VidForm>(query: SourceQuery, cap: number, form: F) {
      const batches = session.batches(await statementOf(query, 'events', BigInt(cap)), {
        begin: (capacity) => new PeopleBatch(form, capacity),
        add(batch, row) {
          const [vid, value] = row as PeopleRow;
          if (isSampled(query, vid)) batch.add(vid, value);
        },
      });
      for await (const batch of batches) if (batch.length > 0) yield batch.people();
    },

    async histogram(query, max) {
      const counts = new Array<bigint>(max).fill(0n);
      let missing = 0n;
      const add = (value: string, people: bigint) => {
        if (Number(value) > 0) counts[Number(value) - 1]! += people;
        else missing -= BigInt(value);
      };
      if (query.buckets === undefined) {
        const rows = await figures(query, 'events', BigInt(max), HISTOGRAM);
        for (const [value, people] of rows) add(value!, BigInt(people!));
      } else await eachValue(query, 'events', BigInt(max), (value) => add(value, 1n));
      return { counts, missing };
    },

    async cappedSum(query, what, cap) {
      if (query.buckets === undefined) {
        const [[sum, missing] = []] = await figures(query, what, cap, SUM);
        return { sum: BigInt(sum ?? 0), missing: BigInt(missing ?? 0) };
      }
      let [sum, missing] = [0n, 0n];
      await eachValue(query, what, cap, (text) => {
        const value = BigInt(text);
        if (value > 0n) sum += value;
        else missing -= value;
      });
      return { sum, missing };
    },
  };
}

const HISTOGRAM = (people: string) => `SELECT value, count(*) FROM (${people}) AS p GROUP BY value`;
const SUM = (people: string) =>
  `SELECT sum(value) FILTER (WHERE value > 0), -sum(value) FILTER (WHERE value < 0) FROM (${people}) AS p`;

/** Whether a person is in the sample. Events without a VID always count as sampled, so that they can be reported. */
const isSampled = ({ buckets }: SourceQuery, vid: string | null) =>
  buckets === undefined || vid === null || inBuckets(buckets, sampleBucket(BigInt(vid)));

/** The sampled people of one batch of rows. */
class PeopleBatch<F extends VidForm> {
  private readonly vids: Uint32Array | BigInt64Array;
  private readonly frequencies: Uint8Array;
  length = 0;

  constructor(form: F, capacity: number) {
    this.vids = form === 'small' ? new Uint32Array(capacity) : new BigInt64Array(capacity);
    this.frequencies = new Uint8Array(capacity);
  }

  /** Adds a row. Events without a VID get VID 0 and frequency 0. */
  add(vid: string | null, value: string): void {
    const i = this.length++;
    if (vid === null) return;
    this.frequencies[i] = Number(value);
    if (this.vids instanceof BigInt64Array) this.vids[i] = BigInt(vid);
    else this.vids[i] = smallVid(Number(vid));
  }

  people(): People<F> {
    return {
      vids: this.vids.slice(0, this.length) as VidsOf<F>,
      frequencies: this.frequencies.slice(0, this.length),
    };
  }
}

/**
 * Replaces a VID outside of 1 to MAX_VID with 0. A VID that a JavaScript number cannot represent exactly is always
 * outside of this range.
 */
const smallVid = (vid: number) => (vid >= 1 && vid <= MAX_VID ? vid : 0);
