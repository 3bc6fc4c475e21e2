/** Reads the events of a query. PostgreSQL lacks the hash function for sampling, so the agent samples the people. */
import type { AttributeValue } from '../../../filters/types.ts';
import { inBuckets, MAX_VID, sampleBucket } from '../buckets.ts';
import type { EventReader, People, SourceQuery, Summed, VidForm, VidsOf } from '../source.ts';
import type { Row, Session } from './session.ts';
import { combinationsStatement, peopleStatement, type Table } from './statement.ts';
import { keyValue } from './types.ts';

type PeopleRow = [vid: string | null, value: string, missing: string | null];

export function readerOf(session: Session, table: Table): EventReader {
  const sampledOf = (query: SourceQuery, what: Summed, cap: bigint) =>
    sampledRows(session, table, query, what, cap);
  return {
    async *combinations(query, attributes, limit) {
      session.follow(query.signal);
      const types = attributes.map((name) => table.columns.attributes.get(name)!.type);
      const { sql, values } = await combinationsStatement(table, query, attributes, limit);
      for await (const rows of session.batches(sql, values)) {
        yield rows.map((row): AttributeValue[] => row.map((text, i) => keyValue(text, types[i]!)));
      }
    },

    async *people(query, cap, form) {
      for await (const rows of sampledOf(query, 'events', BigInt(cap))) {
        if (rows.length > 0) yield peopleOf(rows, form);
      }
    },

    async histogram(query, max) {
      const counts = new Array<bigint>(max).fill(0n);
      let missing = 0n;
      const add = (value: string, people: bigint, events: string | null) => {
        missing += BigInt(events ?? 0);
        if (value !== '0') counts[Number(value) - 1]! += people;
      };
      if (query.buckets === undefined) {
        const rows = await figures(session, table, query, 'events', BigInt(max), HISTOGRAM);
        for (const [value, people, events] of rows) add(value!, BigInt(people!), events!);
      } else {
        for await (const rows of sampledOf(query, 'events', BigInt(max))) {
          for (const [, value, events] of rows) add(value, 1n, events);
        }
      }
      return { counts, missing };
    },

    async cappedSum(query, what, cap) {
      if (query.buckets === undefined) {
        const [[sum, missing] = []] = await figures(session, table, query, what, cap, SUM);
        return { sum: BigInt(sum ?? 0), missing: BigInt(missing ?? 0) };
      }
      let [sum, missing] = [0n, 0n];
      for await (const rows of sampledOf(query, what, cap)) {
        for (const [, value, events] of rows) {
          sum += BigInt(value);
          missing += BigInt(events ?? 0);
        }
      }
      return { sum, missing };
    },
  };
}

const HISTOGRAM = (people: string) =>
  `SELECT value, count(*), sum(missing) FROM (${people}) AS p GROUP BY value`;
const SUM = (people: string) => `SELECT sum(value), sum(missing) FROM (${people}) AS p`;

/** Computes figures on the server, for a query without sampling. */
async function figures(
  session: Session,
  table: Table,
  query: SourceQuery,
  what: Summed,
  cap: bigint,
  figure: (people: string) => string,
): Promise<Row[]> {
  session.follow(query.signal);
  const { sql, values } = await peopleStatement(table, query, what, cap);
  return session.rows(figure(sql), values);
}

/** Streams one row for each sampled person, and one row for all events without a VID. */
async function* sampledRows(
  session: Session,
  table: Table,
  query: SourceQuery,
  what: Summed,
  cap: bigint,
): AsyncGenerator<PeopleRow[]> {
  session.follow(query.signal);
  const { buckets } = query;
  const { sql, values } = await peopleStatement(table, query, what, cap);
  for await (const rows of session.batches(sql, values) as AsyncGenerator<PeopleRow[]>) {
    yield buckets === undefined
      ? rows
      : rows.filter(([vid]) => vid === null || inBuckets(buckets, sampleBucket(BigInt(vid))));
  }
}

function peopleOf<F extends VidForm>(rows: PeopleRow[], form: F): People<F> {
  const vids = form === 'small' ? new Uint32Array(rows.length) : new BigInt64Array(rows.length);
  const frequencies = new Uint8Array(rows.length);
  for (const [i, [vid, value]] of rows.entries()) {
    frequencies[i] = Number(value);
    if (vids instanceof BigInt64Array) vids[i] = BigInt(vid ?? 0);
    else vids[i] = smallVid(Number(vid ?? 0));
  }
  return { vids: vids as VidsOf<F>, frequencies };
}

/** Replaces a VID outside of 1 to MAX_VID with 0. VIDs that a number cannot hold exactly are outside, too. */
const smallVid = (vid: number) => (vid >= 1 && vid <= MAX_VID ? vid : 0);
