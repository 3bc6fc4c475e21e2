/**
 * The log goes by the IDs of transactions: the order of a resource's versions is theirs only where a transaction gets its
 * ID after it has the lock.
 */
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
import { Database, type Transaction } from '../../src/database/db.ts';
import { lockEventGroups } from '../../src/database/eventGroups.ts';
import { lockMeasurements } from '../../src/database/measurements.ts';

type Json = Reply['json'];
const world = useComputations();
const { exchange } = world;
const idOf = ({ name }: { name: string }) => name.split('/').at(-1)!;

/** The transactions that wait for a lock, and the ID that each has already. */
async function waiting(): Promise<(string | null)[]> {
  const rows = await exchange.database.query(
    `SELECT backend_xid::text AS xid FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return rows.map(({ xid }) => xid as string | null);
}

/** Holds the rows of a query while `work` begins, and tells the IDs of those that wait for them. */
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

describe('a transaction that waits for a lock has no ID yet', () => {
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

  it.each(cases)('%s', async (_operation, query, prepare) => {
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

describe('a transaction that locks several begins again where a later one was faster', () => {
  let db: Database;
  beforeAll(() => {
    db = new Database({ connection: { connectionString: exchange.database.url }, applicationName: 'test' });
  });
  afterAll(() => db.close());

  /** `overtake` runs in the first attempt only, once the transaction has its ID and before it locks what counts. */
  async function attempts(
    first: (tx: Transaction) => Promise<unknown>,
    overtake: () => Promise<unknown>,
    then: (tx: Transaction) => Promise<unknown>,
  ): Promise<number> {
    let count = 0;
    await db.tx('test', async (tx) => {
      await first(tx);
      if (++count === 1) await overtake();
      await then(tx);
    });
    return count;
  }

  it('with measurements, as cascades and deadlines do', async () => {
    const [one, other] = [
      await createMeasurement(exchange, world.acme, [world.streamly]),
      await world.create(2),
    ];
    const { firstWorker } = world.duchies;
    const count = await attempts(
      (tx) => lockMeasurements(tx, [idOf(one)]),
      () => ok(act(exchange, firstWorker, other, 'setParameters', parametersOf(firstWorker))),
      (tx) => lockMeasurements(tx, [idOf(one), idOf(other)]),
    );
    expect(count).toBe(2);
  });

  it('with event groups, as batches do', async () => {
    const [one, other] = [await makeGroup(), await makeGroup()];
    const { streamly, acme } = world;
    const ids = [idOf(one), idOf(other)];
    const count = await attempts(
      (tx) => lockEventGroups(tx, streamly.name, [ids[0]!]),
      () =>
        ok(
          exchange.call(streamly.token, 'PUT', `/v2alpha/${other.name}`, { measurementConsumer: acme.name }),
        ),
      (tx) => lockEventGroups(tx, streamly.name, ids),
    );
    expect(count).toBe(2);
  });
});
