/** Reads the health of all parties, page by page. Counts stop at a limit, as in summaries.ts. */
import { MAX_COUNT, type PartyState, type Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import { preference } from './certificates.ts';
import { literals } from './db.ts';
import { pageRow } from './page.ts';
import { read } from './run.ts';
import { WORK } from './summaries.ts';

export interface PartyHealthRow {
  name: string;
  displayName: string;
  state: PartyState;
  lastSeen: Timestamp | null;
  certificate: string | null;
  notAfter: Timestamp | null;
  underHour: number;
  underDay: number;
  older: number;
  oldestOpenTime: Timestamp | null;
}

const COLLECTIONS = {
  measurementConsumers: WORK.measurementConsumer,
  dataProviders: WORK.dataProvider,
  duchies: WORK.duchy,
};
type Work = (typeof COLLECTIONS)[keyof typeof COLLECTIONS];

/**
 * Generates SQL for a value about party `p`'s measurements, requisitions, or computations, depending on the kind of
 * party. Each of the three has its own table.
 */
function ofWork(value: (work: Work) => string): string {
  const cases = Object.entries(COLLECTIONS).map(
    ([collection, work]) => `WHEN '${collection}' THEN ${value(work)}`,
  );
  return `CASE split_part(p.name, '/', 1) ${cases.join(' ')} END`;
}

/**
 * Generates SQL that counts party `p`'s open measurements, requisitions, or computations. The SQL reads each open state
 * separately, because the index is sorted by state first and then by time. summaries.ts explains why the limit `$6` is
 * a parameter.
 */
const countOpen = (condition: (time: string) => string) =>
  ofWork(
    ({ table, owner, open, opened }) => `(SELECT count(*)::int FROM (
       SELECT FROM unnest(ARRAY[${literals(open)}]) AS s(state) CROSS JOIN LATERAL (
         SELECT FROM ${table} w WHERE w.${owner} = p.name AND w.state = s.state AND ${condition(`w.${opened}`)}
          ORDER BY w.${opened}, w.id LIMIT $6::int) one LIMIT $6::int) counted)`,
  );

const OLDEST = ofWork(
  ({
    table,
    owner,
    open,
    opened,
  }) => `(SELECT min(first.time) FROM unnest(ARRAY[${literals(open)}]) AS s(state)
     CROSS JOIN LATERAL (SELECT w.${opened} AS time FROM ${table} w WHERE w.${owner} = p.name AND w.state = s.state
       ORDER BY w.${opened}, w.id LIMIT 1) first)`,
);

export const listPartyHealth = read.page(
  (after: string, limit: number, now: Timestamp, dayAgo: Timestamp, hourAgo: Timestamp) => [
    ...[after, now, limit, dayAgo, hourAgo, MAX_COUNT + 1],
  ],
  'party_health',
  `WITH candidates AS MATERIALIZED (
     SELECT name FROM parties WHERE name > $1 ORDER BY name LIMIT $3::int + 1
   ), page AS (
     SELECT name, count(*) OVER () AS candidates, row_number() OVER (ORDER BY name) AS nth FROM candidates
   )
   SELECT p.name, p.display_name, p.state, seen.time AS last_seen, c.id AS certificate, c.not_after,
          ${countOpen((time) => `${time} > $5::timestamptz`)} AS under_hour,
          ${countOpen((time) => `${time} > $4::timestamptz AND ${time} <= $5::timestamptz`)} AS under_day,
          ${countOpen((time) => `${time} <= $4::timestamptz`)} AS older,
          ${OLDEST} AS oldest, page.candidates, page.nth
     FROM page JOIN parties p ON p.name = page.name LEFT JOIN last_seen seen ON seen.party = p.name
     LEFT JOIN LATERAL (
       SELECT id, not_after FROM certificates WHERE party = p.name AND revocation_state IS NULL
        ORDER BY ${preference('$2')} LIMIT 1
     ) c ON true
    WHERE page.nth <= $3::int ORDER BY page.nth`,
  pageRow(
    object<PartyHealthRow>({
      name: cell('name'),
      displayName: cell('display_name'),
      state: cell('state'),
      lastSeen: cell('last_seen'),
      certificate: cell('certificate'),
      notAfter: cell('not_after'),
      underHour: cell('under_hour'),
      underDay: cell('under_day'),
      older: cell('older'),
      oldestOpenTime: cell('oldest'),
    }),
  ),
);
