/** Tests an exchange whose database responds late or never. Every request must still get a response in time. */
import { randomBytes } from 'node:crypto';
import { type AddressInfo, createServer as createTcpServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createPrincipalResolver, type PrincipalLookup } from '../auth/principals.ts';
import { Database } from '../database/db.ts';
import { LastSeen } from '../database/lastSeen.ts';
import { findPrincipal } from '../database/principals.ts';
import { ChangeBus } from '../feed/changeBus.ts';
import { Feed } from '../feed/feed.ts';
import { Metrics } from '../observability/metrics.ts';
import type { Exchange } from '../operations/index.ts';
import { PageTokens } from '../operations/paging.ts';
import { Pipeline } from '../serving/pipeline.ts';
import { createServer } from './server.ts';

const ACME = 'measurementConsumers/acme';
const UNUSED = { recall: () => undefined, verify: () => Promise.reject(new Error('not a token')) };
/** A query fails if it gets no connection from the pool within this time. */
const POOL_MS = 2_000;

let mute: Server;
const sockets = new Set<Socket>();
let db: Database;
let app: FastifyInstance;

beforeEach(async () => {
  mute = createTcpServer((socket) => sockets.add(socket.on('error', () => {})));
  await new Promise<void>((done) => mute.listen(0, '127.0.0.1', done));
  const { port } = mute.address() as AddressInfo;
  db = new Database({
    connection: { host: '127.0.0.1', port, user: 'mex', database: 'mex', ssl: false },
    applicationName: 'mex',
  });
});
afterEach(async () => {
  await app.close();
  for (const socket of sockets) socket.destroy();
  await new Promise((done) => mute.close(done));
  await db.close();
});

/**
 * Sends a read request and measures how long the response takes. The database never responds, unless `parts` replaces
 * it.
 */
async function askWith(
  deadlineMs: number,
  lookup: PrincipalLookup,
  { path = 'measurements/m1', ...parts }: Partial<Exchange> & { path?: string } = {},
): Promise<{ status: number; reason: string; ms: number }> {
  const metrics = new Metrics();
  const pipeline = new Pipeline({
    exchange: { db, lastSeen: new LastSeen(), ...parts } as Exchange,
    tokens: {
      verify: async () => ({ issuer: 'i', subject: 's', claimedPrincipal: ACME }) as never,
      recall: () => undefined,
    },
    apiKeys: UNUSED,
    clientCertificates: UNUSED,
    principals: createPrincipalResolver({ lookup }),
    metrics,
    log: pino({ level: 'silent' }),
    rateOf: () => ({ perSecond: 100, burst: 100 }),
    strangerRate: { perSecond: 100, burst: 100 },
    deadlineMs,
  });
  app = createServer({
    pipeline,
    metrics,
    bodyLimitBytes: 1_000,
    trustedProxies: [],
    corsOrigins: [],
    tls: undefined,
    headers: {},
    ready: async () => true,
  });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const began = performance.now();
  const response = await fetch(`${url}/v2alpha/${ACME}/${path}`, {
    headers: { authorization: 'Bearer a.b.c' },
  });
  const { error } = (await response.json()) as { error: { details: { reason?: string }[] } };
  return {
    status: response.status,
    reason: error.details[0]!.reason!,
    ms: performance.now() - began,
  };
}

it('responds with 504 at the deadline if the lookup of the caller hangs', async () => {
  const { status, reason, ms } = await askWith(400, (query) => findPrincipal(db, query));
  expect([status, reason]).toEqual([504, 'DEADLINE_EXCEEDED']);
  expect(ms).toBeLessThan(POOL_MS);
});

it('responds with 504 at the one deadline that the lookup of the caller and the operation share', async () => {
  const deadlineMs = 1_500;
  const lookupMs = 0.9 * deadlineMs;
  const { status, reason, ms } = await askWith(deadlineMs, async () => {
    await sleep(lookupMs);
    return { name: ACME, state: 'ACTIVE' };
  });
  expect([status, reason]).toEqual([504, 'DEADLINE_EXCEEDED']);
  // The lookup and the operation share one deadline. With separate deadlines, the response would take longer.
  expect(ms).toBeLessThan(lookupMs + deadlineMs);
});

it('responds with 504 to a watch that opens after the deadline, and closes the watch once it opens', async () => {
  const slow = {
    query: async () => {
      await sleep(500);
      return [{ xid: '0', seq: 0n, start: { xid: '0', seq: 0n }, isKept: true, ahead: undefined }];
    },
  } as unknown as Database;
  const feed = new Feed(slow, new ChangeBus());
  try {
    const { status } = await askWith(300, async () => ({ name: ACME, state: 'ACTIVE' }), {
      path: 'changes:watch',
      db: slow,
      feed,
      pageTokens: new PageTokens(randomBytes(32)),
    });
    expect(status).toBe(504);
    expect(feed.followers).toBe(1);
    await expect.poll(() => feed.followers, { timeout: 10_000 }).toBe(0);
  } finally {
    feed.stop();
  }
});
