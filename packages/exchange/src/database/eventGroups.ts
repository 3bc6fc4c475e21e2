/** Event groups: one row each, read from the side of the data provider or of the measurement consumer. */
import type { EventGroupRecord } from '../domain/eventGroup.ts';
import { type Queryable, type Row, sql, type Transaction } from './db.ts';

/** Which of its two parties an event group is read by. */
export type Side = 'provider' | 'consumer';

export const COLUMNS = `
  e.id, e.provider, e.consumer, e.reference_id, e.media_types, e.availability_start, e.availability_end,
  e.brand_name, e.campaign_name, e.metadata_ciphertext, e.metadata_cipher_url, e.descriptor, e.metadata_type_url,
  e.metadata_value, e.metadata_size, e.key_type, e.key_data, e.key_format, e.state, e.version, e.create_time,
  e.update_time`;

const GET = {
  provider: sql(
    'event_group_get_of_provider',
    `SELECT ${COLUMNS} FROM event_groups e WHERE e.provider = $1 AND e.id = $2`,
  ),
  consumer: sql(
    'event_group_get_of_consumer',
    `SELECT ${COLUMNS} FROM event_groups e WHERE e.consumer = $1 AND e.id = $2`,
  ),
};

export async function getEventGroup(
  db: Queryable,
  side: Side,
  party: string,
  id: string,
): Promise<EventGroupRecord | undefined> {
  return (await db.query(GET[side], [party, id])).map(eventGroupOf)[0];
}

const LOCK = sql(
  'event_group_lock',
  `SELECT ${COLUMNS} FROM event_groups e WHERE e.provider = $1 AND e.id = ANY($2) ORDER BY e.id FOR UPDATE`,
);

/** By ID; locked in one order, so that two batches cannot wait for each other. */
export async function lockEventGroups(
  tx: Transaction,
  provider: string,
  ids: string[],
): Promise<Map<string, EventGroupRecord>> {
  const rows = await tx.query(LOCK, [provider, ids]);
  return new Map(rows.map((row) => [row.id, eventGroupOf(row)]));
}

const FIND_REQUESTS = sql(
  'event_group_find_requests',
  `SELECT ${COLUMNS}, e.request_id, e.request_hash FROM event_groups e
    WHERE e.provider = $1 AND e.request_id = ANY($2)`,
);

/** What earlier requests with these IDs made, by request ID. */
export async function findByRequestIds(
  db: Queryable,
  provider: string,
  requestIds: string[],
): Promise<Map<string, { group: EventGroupRecord; hash: Uint8Array }>> {
  if (requestIds.length === 0) return new Map();
  const rows = await db.query(FIND_REQUESTS, [provider, requestIds]);
  return new Map(rows.map((row) => [row.request_id, { group: eventGroupOf(row), hash: row.request_hash }]));
}

const SHARE_DESCRIPTORS = sql(
  'event_group_share_descriptors',
  `SELECT d.id, d.version FROM event_group_metadata_descriptors d
    WHERE d.provider = $1 AND d.id = ANY($2) ORDER BY d.id FOR SHARE`,
);

/** The versions of these descriptors, which stay as they are until the transaction ends. */
export async function shareDescriptors(
  tx: Transaction,
  provider: string,
  ids: string[],
): Promise<{ id: string; version: number }[]> {
  if (ids.length === 0) return [];
  return tx.query(SHARE_DESCRIPTORS, [provider, ids]);
}

const DESCRIPTOR_VERSIONS = sql(
  'event_group_descriptor_versions',
  'SELECT d.id, d.version FROM event_group_metadata_descriptors d WHERE d.id = ANY($1)',
);

export async function descriptorVersions(
  db: Queryable,
  ids: string[],
): Promise<{ id: string; version: number }[]> {
  if (ids.length === 0) return [];
  return db.query(DESCRIPTOR_VERSIONS, [ids]);
}

/** In the order of `values`. */
const STORED = `reference_id, media_types, availability_start, availability_end, brand_name, campaign_name,
  metadata_ciphertext, metadata_cipher_url, descriptor, metadata_type_url, metadata_value, metadata_size, key_type,
  key_data, key_format, state, version, update_time`;

const INSERT = sql(
  'event_group_insert',
  `INSERT INTO event_groups (id, ${STORED}, provider, consumer, request_id, request_hash, create_time)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23,
           $24)`,
);

export function insertEventGroup(
  tx: Transaction,
  group: EventGroupRecord,
  request: { id: string; hash: Uint8Array } | undefined,
): void {
  const { provider, consumer, createTime } = group;
  tx.last(INSERT, [...values(group), provider, consumer, request?.id, request?.hash, createTime]);
}

const UPDATE = sql(
  'event_group_update',
  `WITH e AS (
     UPDATE event_groups SET (${STORED}) =
            ($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
      WHERE id = $1 AND version = $18 - 1 RETURNING 1
   ) SELECT expect_rows((SELECT count(*) FROM e), 1)`,
);

export function updateEventGroup(tx: Transaction, group: EventGroupRecord): void {
  tx.last(UPDATE, values(group));
}

function values(group: EventGroupRecord): unknown[] {
  const { availability, encrypted, readable, publicKey } = group;
  return [
    group.id,
    group.referenceId,
    group.mediaTypes,
    availability?.startTime,
    availability?.endTime,
    group.brandName,
    group.campaignName,
    encrypted?.ciphertext,
    encrypted?.typeUrl,
    readable?.descriptor,
    readable?.typeUrl,
    readable?.value,
    readable?.size,
    publicKey?.['@type'],
    publicKey?.data,
    publicKey?.format,
    group.state,
    group.version,
    group.updateTime,
  ];
}

export function eventGroupOf(row: Row): EventGroupRecord {
  return {
    id: row.id,
    provider: row.provider,
    consumer: row.consumer,
    referenceId: row.reference_id ?? undefined,
    mediaTypes: row.media_types,
    availability:
      row.availability_start === null
        ? undefined
        : { startTime: row.availability_start, endTime: row.availability_end ?? undefined },
    brandName: row.brand_name ?? undefined,
    campaignName: row.campaign_name ?? undefined,
    encrypted:
      row.metadata_ciphertext === null
        ? undefined
        : { ciphertext: row.metadata_ciphertext, typeUrl: row.metadata_cipher_url },
    readable:
      row.descriptor === null
        ? undefined
        : {
            descriptor: row.descriptor,
            typeUrl: row.metadata_type_url,
            value: row.metadata_value,
            size: row.metadata_size,
          },
    publicKey:
      row.key_data === null
        ? undefined
        : { '@type': row.key_type, data: row.key_data, format: row.key_format ?? undefined },
    state: row.state,
    version: row.version,
    createTime: row.create_time,
    updateTime: row.update_time,
  };
}
