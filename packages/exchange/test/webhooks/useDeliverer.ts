/**
 * Test helper that starts a deliverer on its own database, without an exchange, and adds a webhook that points to a
 * receiver.
 */
import { randomBytes } from 'node:crypto';
import { timestampOf } from '@measurement-exchange/contract';
import { SECRETS_KEY_BYTES, Secrets } from '@measurement-exchange/server';
import { createDatabase, type Database as TestDatabase } from '@measurement-exchange/testkit/exchange';
import { afterAll, afterEach, beforeAll, beforeEach, vi } from 'vitest';
import { latestPosition } from '../../src/database/changes.ts';
import { Database } from '../../src/database/db.ts';
import { insertWebhook, saveWebhook } from '../../src/database/webhooks.ts';
import { newWebhook, printSecret, type WebhookRecord } from '../../src/domain/webhook.ts';
import { ChangeBus } from '../../src/feed/changeBus.ts';
import { Feed } from '../../src/feed/feed.ts';
import { Deliverer } from '../../src/webhooks/deliverer.ts';
import { Destinations } from '../../src/webhooks/destinations.ts';
import type { RoundOptions } from '../../src/webhooks/round.ts';
import { type Received, type Receiver, startReceiver } from './receiver.ts';

export const now = (aheadMs = 0) => timestampOf(Date.now() + aheadMs);

/** Returns destinations without effective rate limits. */
export function everywhere(isDevelopment: boolean): Destinations {
  return new Destinations({ deniedNetworks: [], perSecond: 1e6, partyPerSecond: 1e6 }, isDevelopment);
}

export interface DelivererWorld {
  database: TestDatabase;
  db: Database;
  feed: Feed;
  /** The number of rounds that have ended. */
  ended: number;
  /**
   * A new party for each test, so that changes delayed by other tests on this server are not delivered to the next
   * test.
   */
  party: { name: string };
  receiver: Receiver;
  webhook: WebhookRecord;
  deliverer: Deliverer;
  /** The attempts that were reported to the metrics. */
  observed: [outcome: string, seconds: number][];
  /** Adds another webhook that points to the receiver. */
  add: (id: string, party: string) => Promise<void>;
  /** Creates another deliverer with other options. */
  another: (options: Partial<RoundOptions>) => Deliverer;
}

export function useDeliverer(): DelivererWorld {
  const world = { ended: 0 } as DelivererWorld;
  const secrets = new Secrets(randomBytes(SECRETS_KEY_BYTES));
  const secret = randomBytes(32);
  const deliverers: Deliverer[] = [];
  world.another = (options) => {
    const observer = {
      delivery: (outcome: string, seconds: number) => world.observed.push([outcome, seconds]),
    };
    const made = new Deliverer({
      ...{ db: world.db, feed: world.feed, clock: now, secrets, destinations: everywhere(true), observer },
      ...options,
    });
    deliverers.push(made);
    return made;
  };
  world.add = async (id, party) => {
    const { db, receiver } = world;
    const webhook = newWebhook(party, id, { url: receiver.url }, now(), true);
    const position = await latestPosition(db, party);
    await db.tx('insert', async (tx) => insertWebhook(tx, webhook, secrets.seal(id, secret), position));
    if (id === 'hook') world.webhook = webhook;
  };

  beforeAll(async () => {
    world.database = await createDatabase();
    const observer = {
      transaction: (name: string) => {
        if (name === 'settleWebhook') world.ended += 1;
      },
      retry: () => {},
    };
    const connection = { connectionString: world.database.url };
    world.db = new Database({ connection, applicationName: 'test', observer });
    world.feed = new Feed(world.db, new ChangeBus());
  });
  afterAll(async () => {
    world.feed.stop();
    await world.db.close();
    await world.database.drop();
  });

  beforeEach(async ({ task }) => {
    world.party = { name: `dataProviders/${task.id}` };
    world.observed = [];
    await addParty(world, world.party.name);
    world.receiver = await startReceiver();
    world.receiver.secrets.push(printSecret(secret));
    await world.add('hook', world.party.name);
    world.deliverer = world.another({});
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    for (const deliverer of deliverers.splice(0)) await deliverer.stop();
    await world.receiver.leave();
    await world.database.query('DELETE FROM webhooks');
  });
  return world;
}

export async function addParty({ database }: DelivererWorld, name: string): Promise<void> {
  await database.query('INSERT INTO parties (name, create_time, update_time) VALUES ($1, now(), now())', [
    name,
  ]);
}

export const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 50_000, interval: 20 });

export const save = ({ db }: DelivererWorld, record: WebhookRecord) =>
  db.tx('save', async (tx) => saveWebhook(tx, record, now()));

/**
 * Makes the receiver hold its response to every message, until the test calls the returned `respond` with the status.
 */
export function holding(at: Receiver) {
  const arrived: Received[] = [];
  const held = Promise.withResolvers<number>();
  at.respond = (event) => {
    arrived.push(event);
    return held.promise;
  };
  return { arrived, respond: held.resolve };
}
