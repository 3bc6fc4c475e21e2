/** Event groups: one row each, read from the side of the data provider or of the measurement consumer. */

import { cell, object } from '@measurement-exchange/server/database';
import { eventGroupChanges } from '../domain/changes.ts';
import type { EventGroupRecord } from '../domain/eventGroup.ts';
import { appendChanges, changeValues, saveVersion } from './changes.ts';
import { lookup, type Queryable, sql, type Transaction } from './db.ts';
import { inTransaction } from './run.ts';
import {
  column,
  except,
  names,
  optional,
  optionalGroup,
  parameters,
  select,
  table,
  values,
} from './table.ts';

/** Which of its two parties an event group is read by. */
export type Side = 'provider' | 'consumer';

export const eventGroups = table<EventGroupRecord>('event_groups', {
  id: column('id'),
  provider: column('provider'),
  consumer: column('consumer'),
  referenceId: optional('reference_id'),
  mediaTypes: column('media_types', 'texts'),
  availability: optionalGroup('availability_start', {
    startTime: column('availability_start', 'time'),
    endTime: optional('availability_end', 'time'),
  }),
  brandName: optional('brand_name'),
  campaignName: optional('campaign_name'),
  encrypted: optionalGroup('metadata_ciphertext', {
    ciphertext: column('metadata_ciphertext', 'bytes'),
    typeUrl: column('metadata_cipher_url'),
  }),
  readable: optionalGroup('descriptor', {
    descriptor: column('descriptor'),
    typeUrl: column('metadata_type_url'),
    value: column('metadata_value', 'bytes'),
    size: column('metadata_size', 'int'),
  }),
  publicKey: optionalGroup('key_data', {
    '@type': column('key_type'),
    data: column('key_data', 'bytes'),
    format: optional('key_format'),
  }),
  state: column('state'),
  version: column('version', 'int'),
  createTime: column('create_time', 'time'),
  updateTime: column('update_time', 'time'),
});
export const COLUMNS = select(eventGroups, 'e');

const GET = { provider: getStatement('provider'), consumer: getStatement('consumer') };
function getStatement(side: Side) {
  const text = `SELECT ${COLUMNS} FROM event_groups e WHERE e.${side} = $1 AND e.id = $2`;
  return lookup(`event_group_get_of_${side}`, text, eventGroups.reader());
}

export async function getEventGroup(
  db: Queryable,
  side: Side,
  party: string,
  id: string,
): Promise<EventGroupRecord | undefined> {
  return (await db.query(GET[side], [party, id]))[0];
}

/** By ID; locked in one order, so that two batches cannot wait for each other. */
export const lockEventGroups = inTransaction.byKey(
  ({ id }: EventGroupRecord) => id,
  (provider: string, ids: string[]) => [provider, ids],
  'event_group_lock',
  `SELECT ${COLUMNS} FROM event_groups e WHERE e.provider = $1 AND e.id = ANY($2) ORDER BY e.id FOR UPDATE`,
  eventGroups.reader(),
);

const FIND_REQUESTS = sql(
  'event_group_find_requests',
  `SELECT ${COLUMNS}, e.request_id, e.request_hash FROM event_groups e
    WHERE e.provider = $1 AND e.request_id = ANY($2)`,
  object({
    group: eventGroups.reader(),
    requestId: cell<string>('request_id'),
    hash: cell<Uint8Array>('request_hash'),
  }),
);

/** The event groups that earlier requests with these IDs created, by request ID. */
export async function findByRequestIds(
  db: Queryable,
  provider: string,
  requestIds: string[],
): Promise<Map<string, { group: EventGroupRecord; hash: Uint8Array }>> {
  if (requestIds.length === 0) return new Map();
  const rows = await db.query(FIND_REQUESTS, [provider, requestIds]);
  return new Map(rows.map((row) => [row.requestId, row]));
}

/** A descriptor without its set. */
export interface DescriptorVersion {
  id: string;
  version: number;
  /** The size of its descriptor set. */
  bytes: number;
}
const DESCRIPTOR_VERSION = 'd.id, d.version, octet_length(d.descriptor_set) AS bytes';

const SHARE_DESCRIPTORS = sql<DescriptorVersion>(
  'event_group_share_descriptors',
  `SELECT ${DESCRIPTOR_VERSION} FROM event_group_metadata_descriptors d
    WHERE d.provider = $1 AND d.id = ANY($2) ORDER BY d.id FOR SHARE`,
);

/** The versions of these descriptors, which stay as they are until the transaction ends. */
export async function shareDescriptors(
  tx: Transaction,
  provider: string,
  ids: string[],
): Promise<DescriptorVersion[]> {
  if (ids.length === 0) return [];
  return tx.query(SHARE_DESCRIPTORS, [provider, ids]);
}

const DESCRIPTOR_VERSIONS = sql<DescriptorVersion>(
  'event_group_descriptor_versions',
  `SELECT ${DESCRIPTOR_VERSION} FROM event_group_metadata_descriptors d WHERE d.id = ANY($1)`,
);

export async function descriptorVersions(db: Queryable, ids: string[]): Promise<DescriptorVersion[]> {
  if (ids.length === 0) return [];
  return db.query(DESCRIPTOR_VERSIONS, [ids]);
}

const INSERT = sql(
  'event_group_insert',
  `WITH change AS (${appendChanges(eventGroups.columns.length + 3)})
   INSERT INTO event_groups (request_id, request_hash, ${names(eventGroups.columns)})
   VALUES ($1, $2, ${parameters(eventGroups.columns, 3)})`,
);

export function insertEventGroup(
  tx: Transaction,
  group: EventGroupRecord,
  request: { id: string; hash: Uint8Array } | undefined,
): void {
  const changes = changeValues(tx, eventGroupChanges(group));
  tx.last(INSERT, [request?.id, request?.hash, ...values(eventGroups.columns, group), ...changes]);
}

export const updateEventGroup = saveVersion(
  'event_group_update',
  eventGroups,
  ['id'],
  except(eventGroups, 'id', 'provider', 'consumer', 'createTime'),
  eventGroupChanges,
);
