/** Tests a database that was restored from a dump, so that its logs contain transaction IDs of another server. */
import { timestampOf } from '@measurement-exchange/contract';
import { createDatabase, type Database as TestDatabase } from '@measurement-exchange/testkit/exchange';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { positionBefore, readChanges } from '../../src/database/changes.ts';
import { Database } from '../../src/database/db.ts';
import { doctor } from '../../src/database/doctor.ts';
import { listAudit } from '../../src/database/log.ts';
import { migrate } from '../../src/database/migrate.ts';
import { claimWebhooks, rewindWebhook } from '../../src/database/webhooks.ts';

/** A transaction ID that no server has reached. */
const AHEAD = '9000000000000000000';
const PARTY = 'dataProviders/restored';
const QUIET = 'dataProviders/quiet';

let database: TestDatabase;
let db: Database;
beforeAll(async () => {
  database = await createDatabase();
  db = new Database({ connection: { connectionString: database.url }, applicationName: 'test' });
  await database.query(`
    INSERT INTO parties (name, state, create_time, update_time)
      VALUES ('${PARTY}', 'ACTIVE', now(), now()), ('${QUIET}', 'ACTIVE', now(), now());
    INSERT INTO changes (party, xid, name, kind, version, time) VALUES ('${PARTY}', '${AHEAD}', '${PARTY}', 'PARTY', 1, now());
    INSERT INTO audit_entries (time, principal, operation, name, version, request_id, xid)
      VALUES (now(), 'operator', 'createParty', '${PARTY}', 1, 'request', '${AHEAD}');
    INSERT INTO webhooks (id, party, url, description, kinds, state, secret, cursor_xid, cursor_seq, next_attempt_time,
                          create_time, update_time)
      VALUES ('hook', '${PARTY}', 'https://example.com', '', '{}', 'ACTIVE', '', '${AHEAD}', 1, now(), now(), now());
    INSERT INTO webhook_deliveries (webhook, xid, seq, resource, kind, version, time, create_time, next_attempt_time)
      VALUES ('hook', '${AHEAD}', 1, '${PARTY}', 'PARTY', 1, now(), now(), now() + interval '1 day')`);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

const connection = () => ({ connectionString: database.url });
const now = () => timestampOf(Date.now());
const findings = async () =>
  (await doctor({ connection: connection() }))
    .map(({ check }) => check)
    .filter((id) => id.startsWith('changes'));

it('migrates a restored database: no new change is hidden, all tokens expire, and webhooks continue', async () => {
  const [place] = await database.query('SELECT xid::text, seq FROM changes');
  const token = { xid: place!.xid as string, seq: BigInt(place!.seq as string) };
  expect(await readChanges(db, PARTY, token, 10)).toBeDefined();
  expect(await findings()).toEqual(['changes-ahead']);
  const migrated = () => migrate({ connection: connection(), mode: 'development' });
  expect(await migrated()).toEqual({ applied: [], restored: true });
  expect(await migrated()).toEqual({ applied: [], restored: false });
  expect(await findings()).toEqual([]);
  await expect(database.query('DELETE FROM changes')).rejects.toThrow(/append-only/);

  for (const at of [token, { xid: '0', seq: 0n }]) {
    expect(await readChanges(db, PARTY, at, 10)).toBeUndefined();
  }
  expect(await readChanges(db, QUIET, { xid: '0', seq: 0n }, 10)).toBeUndefined();
  await database.query(
    `INSERT INTO changes (party, name, kind, version, time) VALUES ('${PARTY}', '${PARTY}', 'PARTY', 2, now())`,
  );
  // Poll, because transactions of other tests on this server may delay changes.
  const versions = async () =>
    (await readChanges(db, PARTY, 'OLDEST', 10))!.changes.map(({ change }) => change.version);
  await expect.poll(versions, { timeout: 20_000 }).toEqual([2]);
  const { items } = await listAudit(db, undefined, { xid: '0', seq: '0' }, 10);
  expect(items.map(({ entry }) => entry.name)).toContain(PARTY);

  const [leased] = await claimWebhooks(db, now(), 0, 1, { except: [], only: undefined });
  expect(leased!.webhook.id).toBe('hook');
  // The changes of the pending deliveries are no longer in the log, so a rewind must not discard these deliveries.
  const position = await positionBefore(db, PARTY, leased!.webhook.createTime);
  await db.tx('rewind', async (tx) => rewindWebhook(tx, 'hook', position, now()));
  expect(await database.query('SELECT state FROM webhook_deliveries')).toEqual([{ state: 'PENDING' }]);
});
