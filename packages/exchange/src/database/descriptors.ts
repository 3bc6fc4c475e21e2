import type { Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import { descriptorChange } from '../domain/changes.ts';
import { appendChanges, changeValues, saveVersion } from './changes.ts';
import { type Queryable, sql, type Transaction } from './db.ts';
import { type Cursor, longPageText, pageRow } from './page.ts';
import { inTransaction, read } from './run.ts';
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
    longPageText(
      `SELECT d.id, d.create_time AS position, ${SIZE} AS size FROM ${TABLE}
        WHERE ${condition} ORDER BY ${order} LIMIT $3::int + 1`,
      `SELECT ${COLUMNS}, page.candidates, page.nth FROM page JOIN ${TABLE} ON d.id = page.id`,
      { limit: 3, bytes: 4 },
    ),
    pageRow(descriptor),
  );
}

/** The descriptors of one provider, or of all. `maxBytes` limits the response. */
export const listDescriptors = read.filteredPage(
  (after: Cursor, limit: number, maxBytes: number, isJson: boolean) => [
    ...[after.time, after.id, limit, maxBytes, isJson],
  ],
  listStatement(
    'descriptor_list_all',
    'd.create_time, d.id',
    '(d.create_time, d.id) > ($1::timestamptz, $2)',
  ),
  // Not `provider = $6`: the planner would then walk the index by time alone, past the rows of all other providers.
  listStatement(
    'descriptor_list_of_provider',
    'd.provider, d.create_time, d.id',
    '(d.provider, d.create_time, d.id) > ($6, $1::timestamptz, $2) AND d.provider <= $6',
  ),
);

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

export const updateDescriptor = saveVersion(
  'descriptor_update',
  descriptors,
  ['id'],
  only(descriptors, 'descriptorSet', 'jsonBytes', 'version', 'updateTime'),
  (descriptor) => [descriptorChange(descriptor)],
);

/** How many active event groups refer to it. */
export const countEventGroups = read.number(
  (id: string) => [id],
  'descriptor_count_event_groups',
  `SELECT count(*)::int AS n FROM event_groups WHERE descriptor = $1 AND state = 'ACTIVE'`,
);
