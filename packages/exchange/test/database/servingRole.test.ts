/**
 * Tests that the role that serves requests has the rights that the statements need. Most other tests connect as the
 * owner of the tables instead.
 */
import { createDatabase } from '@measurement-exchange/testkit/exchange';
import pg from 'pg';
import { expect, it } from 'vitest';
import '../../src/main.ts';
import { statements } from '../../src/database/db.ts';
import { migrate } from '../../src/database/migrate.ts';
import { ensureRole } from '../../src/database/roles.ts';

it('the serving role has the rights that every statement needs', async () => {
  await using stack = new AsyncDisposableStack();
  const database = await createDatabase();
  stack.defer(() => database.drop());
  const connection = { connectionString: database.url };
  const role = 'mex_serving_role';
  await ensureRole(connection, role);
  await migrate({ connection, appRole: role, mode: 'development' });
  const client = new pg.Client(connection);
  await client.connect();
  stack.defer(() => client.end());
  await client.query(`SET ROLE ${role}`);

  const denied: string[] = [];
  for (const { name, text } of statements.values()) {
    const count = Math.max(0, ...[...text.matchAll(/\$(\d+)/g)].map(([, n]) => Number(n)));
    const values = count === 0 ? '' : `(${Array(count).fill('NULL').join(', ')})`;
    await client.query(`PREPARE ${pg.escapeIdentifier(name)} AS ${text}`);
    // Explain the statement without running it, because PostgreSQL checks table privileges for EXPLAIN, too.
    await client.query(`EXPLAIN EXECUTE ${pg.escapeIdentifier(name)}${values}`).catch(({ message }) => {
      denied.push(`${name}: ${message}`);
    });
  }
  expect(statements.size).toBeGreaterThan(100);
  expect(denied).toEqual([]);
});
