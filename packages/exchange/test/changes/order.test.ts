/**
 * Tests the order of the log, which follows transaction IDs. To keep a resource's versions in order, a transaction must
 * get its ID after it has locked the resource, or restart.
 */
import { timestampOf } from '@measurement-exchange/contract';
import { act, parametersOf, useComputations } from '@measurement-exchange/testkit/computations';
import type { Reply } from '@measurement-exchange/testkit/exchange';
import {
  createMeasurement,
  fulfill,
  ok,
  post,
  refuse,
  requisitionOf,
} from '@measurement-exchange/testkit/steps';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { lockCertificate, updateCertificate } from '../../src/database/certificates.ts';
import { Database, sql, type Transaction } from '../../src/database/db.ts';
import { lockDescriptor, updateDescriptor } from '../../src/database/descriptors.ts';
import { lockEventGroups, updateEventGroup } from '../../src/database/eventGroups.ts';
import { audit } from '../../src/database/log.ts';
import { lockMeasurements } from '../../src/database/measurements.ts';
import { lockParty, saveParty } from '../../src/database/parties.ts';
import { isNotLater } from '../../src/database/versions.ts';
import { saveMeasurements } from '../../src/database/writeMeasurements.ts';
import { cancel } from '../../src/domain/measurement.ts';

type Json = Reply['json'];
const world = useComputations();
const { exchange } = world;
const idOf = ({ name }: { name: string }) => name.split('/').at(-1)!;

/** Returns the ID of each transaction that waits for a lock, or null for a transaction that has no ID yet. */
async function waiting(): Promise<(string | null)[]> {
  const rows = await exchange.database.query(
    `SELECT backend_xid::text AS xid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.map(({ xid }) => xid as string | null);
}

/** Locks the rows of a query while `work` begins, and returns the IDs of the transactions that wait for these rows. */
async function idsWhileLocked(query: string, id: string, work: () => Promise<Reply>): Promise<unknown> {
  const holder = new pg.Client({ connectionString: exchange.database.url });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    const { rowCount } = await holder.query(`${query} FOR UPDATE`, [id]);
    expect(rowCount).toBe(1);
    const done = work();
    await expect.poll(waiting, { timeout: 2_000, interval: 10 }).toHaveLength(1);
    const ids = await waiting();
    await holder.query('COMMIT');
    await ok(done);
    return ids;
  } finally {
    await holder.end();
  }
}

const MEASUREMENT = 'SELECT FROM measurements WHERE id = $1';

describe('a transaction that waits for a lock', () => {
  const pending = () => createMeasurement(exchange, world.acme, [world.streamly]);

  const cases: [string, string, () => Promise<{ id: string; run: () => Promise<Reply> }>][] = [
    [
      'cancelMeasurement',
      MEASUREMENT,
      async () => {
        const measurement = await pending();
        return { id: idOf(measurement), run: () => post(exchange, world.acme, `${measurement.name}:cancel`) };
      },
    ],
    [
      'fulfillDirectRequisition',
      MEASUREMENT,
      async () => {
        const measurement = await pending();
        const requisition = await requisitionOf(exchange, world.streamly, measurement);
        return { id: idOf(measurement), run: () => fulfill(exchange, world.streamly, requisition, 1n) };
      },
    ],
    [
      'refuseRequisition',
      MEASUREMENT,
      async () => {
        const measurement = await pending();
        const requisition = await requisitionOf(exchange, world.streamly, measurement);
        return { id: idOf(measurement), run: () => refuse(exchange, world.streamly, requisition) };
      },
    ],
    [
      'setComputationParameters',
      MEASUREMENT,
      async () => {
        const measurement = await world.create(2);
        const { firstWorker } = world.duchies;
        const run = () => act(exchange, firstWorker, measurement, 'setParameters', parametersOf(firstWorker));
        return { id: idOf(measurement), run };
      },
    ],
    [
      'updateParty',
      'SELECT FROM parties WHERE name = $1',
      async () => {
        const { name, token } = world.globex;
        return {
          id: name,
          run: () => exchange.call(token, 'PATCH', `/v2alpha/${name}`, { displayName: 'G' }),
        };
      },
    ],
    [
      'revokeCertificate',
      'SELECT FROM certificates WHERE id = $1',
      async () => {
        const { dailynews: party } = world;
        const run = () => post(exchange, party, `${party.certificate}:revoke`, { revocationState: 'HOLD' });
        return { id: idOf({ name: party.certificate }), run };
      },
    ],
    [
      'updateEventGroup',
      'SELECT FROM event_groups WHERE id = $1',
      async () => {
        const group = await makeGroup();
        const body = { measurementConsumer: world.acme.name };
        const run = () => exchange.call(world.streamly.token, 'PUT', `/v2alpha/${group.name}`, body);
        return { id: idOf(group), run };
      },
    ],
    [
      'updateEventGroupMetadataDescriptor',
      'SELECT FROM event_group_metadata_descriptors WHERE id = $1',
      async () => {
        const descriptorSet = { file: [{ name: 'a.proto', package: 'a', messageType: [{ name: 'M' }] }] };
        const path = `${world.streamly.name}/eventGroupMetadataDescriptors`;
        const { name } = await ok(post(exchange, world.streamly, path, { descriptorSet }));
        const run = () => exchange.call(world.streamly.token, 'PATCH', `/v2alpha/${name}`, { descriptorSet });
        return { id: idOf({ name }), run };
      },
    ],
  ];

  it.each(cases)('has no transaction ID yet: %s', async (_operation, query, prepare) => {
    const { id, run } = await prepare();
    expect(await idsWhileLocked(query, id, run)).toEqual([null]);
  });
});

const makeGroup = (): Promise<Json> =>
  ok(
    post(exchange, world.streamly, `${world.streamly.name}/eventGroups`, {
      measurementConsumer: world.acme.name,
    }),
  );

describe('a transaction that was overtaken by a later one', () => {
  let db: Database;
  beforeAll(() => {
    db = new Database({ connection: { connectionString: exchange.database.url }, applicationName: 'test' });
  });
  afterAll(() => db.close());

  const TAKE_ID = sql('test_take_id', 'SELECT pg_current_xact_id()');
  const now = () => timestampOf(Date.now());

  /**
   * Counts the attempts of a transaction. In the first attempt, `overtake` runs after the transaction has its ID and
   * before it locks the rows that it changes.
   */
  async function attempts(
    overtake: () => Promise<unknown>,
    change: (tx: Transaction) => Promise<unknown>,
  ): Promise<number> {
    let count = 0;
    await db.tx('test', async (tx) => {
      await tx.query(TAKE_ID, []);
      if (++count === 1) await overtake();
      await change(tx);
    });
    return count;
  }

  it('is not restarted for rows written long ago, when transaction IDs had other upper bits', async () => {
    const isRefused = sql<{ wait: boolean }>(
      'test_is_refused',
      `SELECT NOT (${isNotLater('((pg_current_xact_id()::text::numeric + $1::bigint + 4294967296) % 4294967296)::text::xid')}) AS wait`,
    );
    const asked = [0, 1, 1_000, -1, -1_000, 2_000_000_000, -2_000_000_000, 2 ** 31 - 1].map(
      async (ahead) => (await db.query(isRefused, [ahead]))[0]!.wait,
    );
    expect(await Promise.all(asked)).toEqual([false, true, true, false, false, false, false, false]);
  });

  it('is restarted if it changes a measurement', async () => {
    const { name } = await world.create(2);
    const { firstWorker } = world.duchies;
    const count = await attempts(
      () => ok(act(exchange, firstWorker, { name }, 'setParameters', parametersOf(firstWorker))),
      async (tx) => {
        const [before] = await lockMeasurements(tx, [idOf({ name })]);
        const author = { actor: 'test', requestId: 'test', findings: [] };
        saveMeasurements(tx, [{ before: before!, change: cancel(before!, now(), 'expired') }], author);
      },
    );
    expect(count).toBe(2);
  });

  const audited = (tx: Transaction, name: string, version: number) =>
    audit(tx, { time: now(), principal: 'test', operation: 'test', name, version, requestId: 'test' });
  const put = (party: { token: string }, name: string, body: object, method = 'PUT') =>
    ok(exchange.call(party.token, method, `/v2alpha/${name}`, body));

  it('is restarted if it changes an event group', async () => {
    const { streamly, acme } = world;
    const { name } = await makeGroup();
    const count = await attempts(
      () => put(streamly, name, { measurementConsumer: acme.name }),
      async (tx) => {
        const [group] = (await lockEventGroups(tx, streamly.name, [idOf({ name })])).values();
        updateEventGroup(tx, { ...group!, version: group!.version + 1 });
        audited(tx, name, group!.version + 1);
      },
    );
    expect(count).toBe(2);
  });

  it('is restarted if it changes a descriptor', async () => {
    const { streamly } = world;
    const descriptorSet = { file: [{ name: 'b.proto', package: 'b', messageType: [{ name: 'M' }] }] };
    const path = `${streamly.name}/eventGroupMetadataDescriptors`;
    const { name } = await ok(post(exchange, streamly, path, { descriptorSet }));
    const count = await attempts(
      () => put(streamly, name, { descriptorSet }, 'PATCH'),
      async (tx) => {
        const locked = await lockDescriptor(tx, streamly.name, idOf({ name }));
        updateDescriptor(tx, { ...locked!, version: locked!.version + 1 });
        audited(tx, name, locked!.version + 1);
      },
    );
    expect(count).toBe(2);
  });

  it('is restarted if it changes a party', async () => {
    const { globex } = world;
    const count = await attempts(
      () => put(globex, globex.name, { displayName: 'Overtaken' }, 'PATCH'),
      async (tx) => {
        const locked = await lockParty(tx, globex.name, now());
        saveParty(tx, { ...locked!, version: locked!.version + 1 });
        audited(tx, globex.name, locked!.version + 1);
      },
    );
    expect(count).toBe(2);
  });

  it('is restarted if it changes a certificate', async () => {
    const { chirper } = world;
    const id = idOf({ name: chirper.certificate });
    const count = await attempts(
      () => ok(post(exchange, chirper, `${chirper.certificate}:revoke`, { revocationState: 'HOLD' })),
      async (tx) => {
        const locked = await lockCertificate(tx, chirper.name, id);
        updateCertificate(tx, { ...locked!, version: locked!.version + 1 }, now());
        audited(tx, chirper.certificate, locked!.version + 1);
      },
    );
    expect(count).toBe(2);
  });
});
