/** Stores the message types that each descriptor defines, to detect a type that two descriptors define. */
import type pg from 'pg';
import { messageTypesOf } from '../protobuf/descriptor/descriptorSet.ts';
import { type Queryable, sql, type Transaction } from './db.ts';
import { inTransaction } from './run.ts';

/** Locks the provider's types. No other transaction can register types of this provider until this transaction ends. */
export const lockTypes = inTransaction.done(
  (provider: string) => [provider],
  'descriptor_types_take_turns',
  `SELECT pg_advisory_xact_lock(hashtextextended('descriptor_types ' || $1, 0))`,
);

const REGISTERED = sql(
  'descriptor_types_registered',
  `SELECT * FROM (
     SELECT wanted.type_name, wanted.nth,
            (SELECT min(t.descriptor) FROM descriptor_types t
              WHERE t.type_name = wanted.type_name AND t.provider = $2 AND t.descriptor <> $3) AS own,
            EXISTS (SELECT FROM descriptor_types t
                     WHERE t.type_name = wanted.type_name AND t.provider <> $2) AS others
       FROM unnest($1::text[]) WITH ORDINALITY AS wanted (type_name, nth)
   ) AS registered WHERE own IS NOT NULL OR others ORDER BY nth`,
);

/**
 * Returns the given types that another descriptor already defines. For each type, `own` is the ID of the provider's
 * other descriptor with this type, or undefined if only other providers' descriptors define the type.
 */
export async function registeredTypes(
  db: Queryable,
  provider: string,
  descriptor: string,
  types: string[],
): Promise<{ type: string; own: string | undefined }[]> {
  const rows = await db.query(REGISTERED, [types, provider, descriptor]);
  return rows.map((row) => ({ type: row.type_name, own: row.own ?? undefined }));
}

const DELETE = sql('descriptor_types_delete', 'DELETE FROM descriptor_types WHERE descriptor = $1');
const INSERT = sql(
  'descriptor_types_insert',
  `INSERT INTO descriptor_types (descriptor, type_name, provider)
   SELECT d.id, type_name, d.provider
     FROM event_group_metadata_descriptors d, unnest($2::text[]) AS type_name
    WHERE d.id = $1 ON CONFLICT DO NOTHING`,
);

/** Stores the types that a descriptor defines. The descriptor's row must already exist. */
export const insertTypes = inTransaction.last(
  (descriptor: string, types: string[]) => [descriptor, types],
  INSERT,
);

export function replaceTypes(tx: Transaction, descriptor: string, types: string[]): void {
  tx.last(DELETE, [descriptor]);
  insertTypes(tx, descriptor, types);
}

/**
 * Adds the types of descriptors that an older version of the exchange stored without types. SQL cannot parse descriptor
 * sets, so a migration in SQL cannot do this.
 */
export async function fillDescriptorTypes(client: pg.ClientBase): Promise<void> {
  for (let after = ''; ; ) {
    await client.query('BEGIN');
    const { rows } = await client.query(
      `SELECT d.id, d.descriptor_set FROM event_group_metadata_descriptors d
        WHERE d.id > $1 AND NOT EXISTS (SELECT FROM descriptor_types t WHERE t.descriptor = d.id)
        ORDER BY d.id LIMIT 50 FOR UPDATE`,
      [after],
    );
    for (const { id, descriptor_set } of rows) {
      await client.query({ ...INSERT, values: [id, typesOf(descriptor_set)] });
    }
    await client.query('COMMIT');
    if (rows.length === 0) return;
    after = rows.at(-1).id;
  }
}

function typesOf(descriptorSet: Uint8Array): string[] {
  try {
    return messageTypesOf(descriptorSet);
  } catch {
    // Skip a damaged descriptor set. An error here would keep the exchange from starting.
    return [];
  }
}
