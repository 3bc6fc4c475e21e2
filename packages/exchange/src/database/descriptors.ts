import type { Timestamp } from '@measurement-exchange/contract';
import { type Queryable, type Row, sql, type Transaction } from './db.ts';
import { type Cursor, hasMore, type Page } from './page.ts';

export interface DescriptorRecord {
  id: string;
  /** `dataProviders/x` */
  provider: string;
  descriptorSet: Uint8Array;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

const COLUMNS = 'd.id, d.provider, d.descriptor_set, d.version, d.create_time, d.update_time';
const TABLE = 'event_group_metadata_descriptors d';

const GET = sql('descriptor_get', `SELECT ${COLUMNS} FROM ${TABLE} WHERE d.provider = $1 AND d.id = $2`);
const LOCK = sql('descriptor_lock', `${GET.text} FOR UPDATE`);

export async function getDescriptor(
  db: Queryable,
  provider: string,
  id: string,
): Promise<DescriptorRecord | undefined> {
  return (await db.query(GET, [provider, id])).map(descriptorOf)[0];
}

export async function lockDescriptor(
  tx: Transaction,
  provider: string,
  id: string,
): Promise<DescriptorRecord | undefined> {
  return (await tx.query(LOCK, [provider, id])).map(descriptorOf)[0];
}

const GET_MANY = sql('descriptor_get_many', `SELECT ${COLUMNS} FROM ${TABLE} WHERE d.id = ANY($1)`);

export async function getDescriptors(db: Queryable, ids: string[]): Promise<DescriptorRecord[]> {
  return (await db.query(GET_MANY, [ids])).map(descriptorOf);
}

/** `$1, $2` cursor, `$3` limit, `$4` bytes. */
function listStatement(name: string, order: string, condition: string) {
  return sql(
    name,
    `WITH candidates AS MATERIALIZED (
       SELECT d.id, d.create_time, octet_length(d.descriptor_set) AS size FROM ${TABLE}
        WHERE ${condition} ORDER BY ${order} LIMIT $3::int + 1
     ), page AS (
       SELECT id, count(*) OVER () AS candidates, row_number() OVER w AS nth, sum(size) OVER w AS running
         FROM candidates WINDOW w AS (ORDER BY create_time, id)
     )
     SELECT ${COLUMNS}, page.candidates, page.nth FROM page JOIN ${TABLE} ON d.id = page.id
      WHERE page.nth <= $3::int AND (page.nth = 1 OR page.running <= $4::bigint) ORDER BY page.nth`,
  );
}
// Not `provider = $5`: the planner would then walk the index by time alone, past the rows of all other providers.
const LIST_OF_PROVIDER = listStatement(
  'descriptor_list_of_provider',
  'd.provider, d.create_time, d.id',
  '(d.provider, d.create_time, d.id) > ($5, $1::timestamptz, $2) AND d.provider <= $5',
);
const LIST_ALL = listStatement(
  'descriptor_list_all',
  'd.create_time, d.id',
  '(d.create_time, d.id) > ($1::timestamptz, $2)',
);

/** Of one provider, or of all where `provider` is undefined. `maxBytes` is about their serialized sets. */
export async function listDescriptors(
  db: Queryable,
  provider: string | undefined,
  after: Cursor,
  limit: number,
  maxBytes: number,
): Promise<Page<DescriptorRecord>> {
  const page = [after.time, after.id, limit, maxBytes];
  const rows =
    provider === undefined
      ? await db.query(LIST_ALL, page)
      : await db.query(LIST_OF_PROVIDER, [...page, provider]);
  return { items: rows.map(descriptorOf), more: hasMore(rows) };
}

const FIND_REQUEST = sql(
  'descriptor_find_request',
  `SELECT ${COLUMNS}, d.request_hash FROM ${TABLE} WHERE d.provider = $1 AND d.request_id = $2`,
);

export async function findDescriptorByRequestId(
  db: Queryable,
  provider: string,
  requestId: string | undefined,
): Promise<{ descriptor: DescriptorRecord; hash: Uint8Array } | undefined> {
  if (requestId === undefined) return undefined;
  const [row] = await db.query(FIND_REQUEST, [provider, requestId]);
  return row && { descriptor: descriptorOf(row), hash: row.request_hash };
}

const INSERT = sql(
  'descriptor_insert',
  `INSERT INTO event_group_metadata_descriptors
     (id, provider, descriptor_set, request_id, request_hash, version, create_time, update_time)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
);

export function insertDescriptor(
  tx: Transaction,
  d: DescriptorRecord,
  request: { id: string; hash: Uint8Array } | undefined,
): void {
  tx.last(INSERT, [
    d.id,
    d.provider,
    d.descriptorSet,
    request?.id,
    request?.hash,
    d.version,
    d.createTime,
    d.updateTime,
  ]);
}

const UPDATE = sql(
  'descriptor_update',
  `WITH d AS (
     UPDATE event_group_metadata_descriptors SET descriptor_set = $2, version = $3, update_time = $4
      WHERE id = $1 AND version = $3 - 1 RETURNING 1
   ) SELECT expect_rows((SELECT count(*) FROM d), 1)`,
);

export function updateDescriptor(tx: Transaction, d: DescriptorRecord): void {
  tx.last(UPDATE, [d.id, d.descriptorSet, d.version, d.updateTime]);
}

const COUNT_EVENT_GROUPS = sql(
  'descriptor_count_event_groups',
  `SELECT count(*) AS count FROM event_groups WHERE descriptor = $1 AND state = 'ACTIVE'`,
);

/** How many active event groups refer to it. */
export async function countEventGroups(db: Queryable, id: string): Promise<number> {
  const [row] = await db.query<{ count: bigint }>(COUNT_EVENT_GROUPS, [id]);
  return Number(row!.count);
}

function descriptorOf(row: Row): DescriptorRecord {
  return {
    id: row.id,
    provider: row.provider,
    descriptorSet: row.descriptor_set,
    version: row.version,
    createTime: row.create_time,
    updateTime: row.update_time,
  };
}
