import { cell, object } from '@measurement-exchange/server/database';
import { eventGroupChanges } from '../domain/changes.ts';
import type { EventGroupRecord } from '../domain/eventGroup.ts';
import { lookup, type Queryable, sql, type Transaction } from './db.ts';
import { inTransaction, read } from './run.ts';
import { column, except, optional, optionalGroup, select, table } from './table.ts';
import { insertRequested, saveVersion } from './versions.ts';

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
  attributes: optional('attributes', 'jsonText'),
  eventTemplates: column('event_templates', 'texts'),
  vidModelLines: column('vid_model_lines', 'texts'),
  entityKey: optionalGroup('entity_type', {
    entityType: column('entity_type'),
    entityId: optional('entity_id'),
  }),
  entityMetadata: optional('entity_metadata', 'jsonText'),
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

function getOf(side: Side) {
  const text = `SELECT ${COLUMNS} FROM event_groups e WHERE e.${side} = $1 AND e.id = $2`;
  const statement = lookup(`event_group_get_of_${side}`, text, eventGroups.reader());
  return read.first((party: string, id: string) => [party, id], statement);
}
export const getEventGroup = { provider: getOf('provider'), consumer: getOf('consumer') };

/** Locks event groups, always in the order of their IDs, to avoid deadlocks. */
export const lockEventGroups = inTransaction.byKey(
  ({ id }: EventGroupRecord) => id,
  (provider: string, ids: string[]) => [provider, ids],
  'event_group_lock',
  `SELECT ${COLUMNS} FROM event_groups e WHERE e.provider = $1 AND e.id = ANY($2) ORDER BY e.id FOR UPDATE`,
  eventGroups.reader(),
);

export const findByRequestIds = read.byKey(
  ({ requestId }: { requestId: string; group: EventGroupRecord; hash: Uint8Array }) => requestId,
  (provider: string, requestIds: string[]) => [provider, requestIds],
  'event_group_find_requests',
  `SELECT ${COLUMNS}, e.request_id, e.request_hash FROM event_groups e
    WHERE e.provider = $1 AND e.request_id = ANY($2)`,
  object({ group: eventGroups.reader(), requestId: cell('request_id'), hash: cell('request_hash') }),
);

export interface DescriptorVersion {
  id: string;
  version: number;
  bytes: number;
}
const DESCRIPTOR_VERSION = 'd.id, d.version, octet_length(d.descriptor_set) AS bytes';

const SHARE_DESCRIPTORS = sql<DescriptorVersion>(
  'event_group_share_descriptors',
  `SELECT ${DESCRIPTOR_VERSION} FROM event_group_metadata_descriptors d
    WHERE d.provider = $1 AND d.id = ANY($2) ORDER BY d.id FOR SHARE`,
);

/** Locks the descriptors against changes until the transaction ends, and returns their versions. */
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

export const insertEventGroup = insertRequested('event_group_insert', eventGroups, eventGroupChanges);

export const updateEventGroup = saveVersion(
  'event_group_update',
  eventGroups,
  ['id'],
  except(eventGroups, 'id', 'provider', 'consumer', 'createTime'),
  eventGroupChanges,
);
