import type { Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import { descriptorChange } from '../domain/changes.ts';
import { sql } from './db.ts';
import { type Cursor, longPageText, pageRow } from './page.ts';
import { inTransaction, read } from './run.ts';
import { column, only, optional, select, table } from './table.ts';
import { insertRequested, saveVersion } from './versions.ts';

export interface DescriptorRecord {
  id: string;
  /** A name such as `dataProviders/x`. */
  provider: string;
  descriptorSet: Uint8Array;
  /** The size of the descriptor set as JSON. Undefined if an older version of the exchange stored the set. */
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
export const getDescriptor = read.first(
  (provider: string, id: string) => [provider, id],
  'descriptor_get',
  OF_PROVIDER,
  descriptor,
);

export const lockDescriptor = inTransaction.first(
  (provider: string, id: string) => [provider, id],
  'descriptor_lock',
  `${OF_PROVIDER} FOR UPDATE`,
  descriptor,
);

export const getDescriptors = read.all(
  (ids: string[]) => [ids],
  'descriptor_get_many',
  `SELECT ${COLUMNS} FROM ${TABLE} WHERE d.id = ANY($1)`,
  descriptor,
);

/**
 * The approximate size of a descriptor in a response, in bytes. JSON can be six times as large as binary. A set that
 * cannot be converted to JSON is returned as base64.
 */
const SIZE = `300 + CASE WHEN $5 THEN greatest(coalesce(d.json_bytes, 6 * octet_length(d.descriptor_set)),
                                              octet_length(d.descriptor_set) * 4 / 3)
                         ELSE octet_length(d.descriptor_set) * 4 / 3 END`;

/** Parameters: `$1, $2` cursor, `$3` limit, `$4` maximum bytes, `$5` whether sets are returned as JSON. */
function listStatement(name: string, order: string, condition: string) {
  return sql(
    name,
    longPageText(
      `SELECT d.id, d.create_time AS position, ${SIZE} AS size FROM ${TABLE}
        WHERE ${condition} ORDER BY ${order} LIMIT $3::int + 1`,
      `SELECT ${COLUMNS}, page.candidates, page.nth FROM page JOIN ${TABLE} ON d.id = page.id`,
      { limit: 3, bytes: 4 },
    ),
    pageRow(descriptor),
  );
}

export const listDescriptors = read.filteredPage(
  (after: Cursor, limit: number, maxBytes: number, isJson: boolean) => [
    ...[after.time, after.id, limit, maxBytes, isJson],
  ],
  listStatement(
    'descriptor_list_all',
    'd.create_time, d.id',
    '(d.create_time, d.id) > ($1::timestamptz, $2)',
  ),
  // The row comparison makes PostgreSQL use the index that starts with the provider. With `provider = $6`, it would use
  // the index on time and read the rows of all providers.
  listStatement(
    'descriptor_list_of_provider',
    'd.provider, d.create_time, d.id',
    '(d.provider, d.create_time, d.id) > ($6, $1::timestamptz, $2) AND d.provider <= $6',
  ),
);

export const findDescriptorByRequestId = read.first(
  (provider: string, requestId: string) => [provider, requestId],
  'descriptor_find_request',
  `SELECT ${COLUMNS}, d.request_hash FROM ${TABLE} WHERE d.provider = $1 AND d.request_id = $2`,
  object({ descriptor, hash: cell<Uint8Array>('request_hash') }),
);

export const insertDescriptor = insertRequested('descriptor_insert', descriptors, (descriptor) => [
  descriptorChange(descriptor),
]);

export const updateDescriptor = saveVersion(
  'descriptor_update',
  descriptors,
  ['id'],
  only(descriptors, 'descriptorSet', 'jsonBytes', 'version', 'updateTime'),
  (descriptor) => [descriptorChange(descriptor)],
);

export const countEventGroups = read.number(
  (id: string) => [id],
  'descriptor_count_event_groups',
  `SELECT count(*)::int AS n FROM event_groups WHERE descriptor = $1 AND state = 'ACTIVE'`,
);
