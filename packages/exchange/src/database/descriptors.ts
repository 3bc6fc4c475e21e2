import type { Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import { descriptorChange } from '../domain/changes.ts';
import { appendChanges, changeValues, IN_ORDER } from './changes.ts';
import { type Queryable, sql, type Transaction } from './db.ts';
import { type Cursor, type Page, pageOf, pageRow } from './page.ts';
import { column, names, only, optional, parameters, select, table, values } from './table.ts';

export interface DescriptorRecord {
  id: string;
  /** `dataProviders/x` */
  provider: string;
  descriptorSet: Uint8Array;
  /** Bytes of the set as JSON; undefined where an earlier version of the exchange wrote it. */
  jsonBytes: number | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

const descriptors = table<DescriptorRecord>('event_group_metadata_descriptors', {
  id: column('id'),
  provider: column('provider'),
  descriptorSet: column('descriptor_set', 'bytes'),
  jsonBytes: optional('json_bytes', 'int'),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
});
const COLUMNS = select(descriptors, 'd');
const TABLE = 'event_group_metadata_descriptors d';
const descriptor = descriptors.reader();

const OF_PROVIDER = `SELECT ${COLUMNS} FROM ${TABLE} WHERE d.provider = $1 AND d.id = $2`;
const GET = sql('descriptor_get', OF_PROVIDER, descriptor);
const LOCK = sql('descriptor_lock', `${OF_PROVIDER} FOR UPDATE`, descriptor);

export async function getDescriptor(
  db: Queryable,
  provider: string,
  id: string,
): Promise<DescriptorRecord | undefined> {
  return (await db.query(GET, [provider, id]))[0];
}

export async function lockDescriptor(
  tx: Transaction,
  provider: string,
  id: string,
): Promise<DescriptorRecord | undefined> {
  return (await tx.query(LOCK, [provider, id]))[0];
}

const GET_MANY = sql(
  'descriptor_get_many',
  `SELECT ${COLUMNS} FROM ${TABLE} WHERE d.id = ANY($1)`,
  descriptor,
);

export async function getDescriptors(db: Queryable, ids: string[]): Promise<DescriptorRecord[]> {
  return db.query(GET_MANY, [ids]);
}

/**
 * Bytes of a row in a response; in JSON, the fields of a set take up to six times their bytes. A set that cannot be printed is
 * shown as base64.
 */
const SIZE = `300 + CASE WHEN $5 THEN greatest(coalesce(d.json_bytes, 6 * octet_length(d.descriptor_set)),
                                              octet_length(d.descriptor_set) * 4 / 3)
                         ELSE octet_length(d.descriptor_set) * 4 / 3 END`;

/** `$1, $2` cursor, `$3` limit, `$4` bytes, `$5` whether the sets are printed as JSON. */
function listStatement(name: string, order: string, condition: string) {
  return sql(
    name,
    `WITH candidates AS MATERIALIZED (
       SELECT d.id, d.create_time, ${SIZE} AS size FROM ${TABLE}
        WHERE ${condition} ORDER BY ${order} LIMIT $3::int + 1
     ), page AS (
       SELECT id, count(*) OVER () AS candidates, row_number() OVER w AS nth, sum(size) OVER w AS running
         FROM candidates WINDOW w AS (ORDER BY create_time, id)
     )
     SELECT ${COLUMNS}, page.candidates, page.nth FROM page JOIN ${TABLE} ON d.id = page.id
      WHERE page.nth <= $3::int AND (page.nth = 1 OR page.running <= $4::bigint) ORDER BY page.nth`,
    pageRow(descriptor),
  );
}
// Not `provider = $6`: the planner would then walk the index by time alone, past the rows of all other providers.
const LIST_OF_PROVIDER = listStatement(
  'descriptor_list_of_provider',
  'd.provider, d.create_time, d.id',
  '(d.provider, d.create_time, d.id) > ($6, $1::timestamptz, $2) AND d.provider <= $6',
);
const LIST_ALL = listStatement(
  'descriptor_list_all',
  'd.create_time, d.id',
  '(d.create_time, d.id) > ($1::timestamptz, $2)',
);

/** Lists the descriptors of one provider, or of all where `provider` is undefined. `maxBytes` limits the response. */
export async function listDescriptors(
  db: Queryable,
  provider: string | undefined,
  after: Cursor,
  limit: number,
  maxBytes: number,
  isJson: boolean,
): Promise<Page<DescriptorRecord>> {
  const page = [after.time, after.id, limit, maxBytes, isJson];
  return pageOf(
    provider === undefined
      ? await db.query(LIST_ALL, page)
      : await db.query(LIST_OF_PROVIDER, [...page, provider]),
  );
}

const FIND_REQUEST = sql(
  'descriptor_find_request',
  `SELECT ${COLUMNS}, d.request_hash FROM ${TABLE} WHERE d.provider = $1 AND d.request_id = $2`,
  object({ descriptor, hash: cell<Uint8Array>('request_hash') }),
);

export async function findDescriptorByRequestId(
  db: Queryable,
  provider: string,
  requestId: string | undefined,
): Promise<{ descriptor: DescriptorRecord; hash: Uint8Array } | undefined> {
  if (requestId === undefined) return undefined;
  return (await db.query(FIND_REQUEST, [provider, requestId]))[0];
}

const INSERT = sql(
  'descriptor_insert',
  `WITH change AS (${appendChanges(descriptors.columns.length + 3)})
   INSERT INTO event_group_metadata_descriptors (request_id, request_hash, ${names(descriptors.columns)})
   VALUES ($1, $2, ${parameters(descriptors.columns, 3)})`,
);

export function insertDescriptor(
  tx: Transaction,
  d: DescriptorRecord,
  request: { id: string; hash: Uint8Array } | undefined,
): void {
  const changes = changeValues(tx, [descriptorChange(d)]);
  tx.last(INSERT, [request?.id, request?.hash, ...values(descriptors.columns, d), ...changes]);
}

const CHANGEABLE = only(descriptors, 'descriptorSet', 'jsonBytes', 'version', 'updateTime');
const UPDATE = sql(
  'descriptor_update',
  `WITH d AS (
     UPDATE event_group_metadata_descriptors SET (${names(CHANGEABLE)}) = (${parameters(CHANGEABLE, 3)})
      WHERE id = $1 AND version = $2::int - 1 AND ${IN_ORDER} RETURNING 1
   ), change AS (${appendChanges(CHANGEABLE.length + 3)})
   SELECT expect_rows((SELECT count(*) FROM d), 1)`,
);

export function updateDescriptor(tx: Transaction, d: DescriptorRecord): void {
  const changes = changeValues(tx, [descriptorChange(d)]);
  tx.last(UPDATE, [d.id, d.version, ...values(CHANGEABLE, d), ...changes]);
}

const COUNT_EVENT_GROUPS = sql<{ count: bigint }>(
  'descriptor_count_event_groups',
  `SELECT count(*) AS count FROM event_groups WHERE descriptor = $1 AND state = 'ACTIVE'`,
);

/** How many active event groups refer to it. */
export async function countEventGroups(db: Queryable, id: string): Promise<number> {
  const [row] = await db.query(COUNT_EVENT_GROUPS, [id]);
  return Number(row!.count);
}
