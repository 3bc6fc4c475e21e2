/**
 * Tests that the schema dump `src/database/schema.sql` is current, and that this version keeps working after a newer
 * version has migrated the database.
 */
import { type Database, useExchange } from '@measurement-exchange/testkit/exchange';
import { printSchema } from '@measurement-exchange/testkit/schemaDump';
import { castOf, createMeasurement } from '@measurement-exchange/testkit/steps';
import { expect, it } from 'vitest';
import { migrate } from '../../src/database/migrate.ts';

const exchange = useExchange();

it('the database schema matches src/database/schema.sql', async () => {
  const dump = await printSchema(exchange.database.query);
  await expect(dump).toMatchFileSnapshot('../../src/database/schema.sql');
});

/** Migrates the database as a newer version would. The changes follow the rules of scripts/check/migrations.ts. */
async function migrateFurther({ query }: Database): Promise<void> {
  await query('ALTER TABLE measurements ADD COLUMN later text');
  await query('ALTER TABLE requisitions ADD COLUMN later integer NOT NULL DEFAULT 7');
  await query('CREATE TABLE later_things (id text PRIMARY KEY)');
  await query(`INSERT INTO schema_migrations VALUES (9999, '9999_later', 'sha256')`);
}

it('the exchange keeps serving a database that a newer version migrated, but cannot migrate it again', async () => {
  const { acme, streamly } = castOf(exchange);
  const before = await createMeasurement(exchange, acme, [streamly]);
  await migrateFurther(exchange.database);
  const after = await createMeasurement(exchange, acme, [streamly]);
  for (const { name } of [before, after]) {
    const { status } = await exchange.call(acme.token, 'GET', `/v2alpha/${name}`);
    expect(status).toBe(200);
    const cancelled = await exchange.call(acme.token, 'POST', `/v2alpha/${name}:cancel`, {});
    expect(cancelled.status).toBe(200);
  }
  const connection = { connectionString: exchange.database.url };
  await expect(migrate({ connection, mode: 'development' })).rejects.toThrow(
    "migrations that differ from this version's: 9999_later",
  );
  await exchange.database.query('DELETE FROM schema_migrations WHERE version = 9999');
});
