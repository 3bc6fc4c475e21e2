/** Faults of the PostgreSQL server: it ends all connections of the exchanges, or has no connections left. */
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import type { World } from '../world.ts';

/** Ends the exchanges' connections. The doctor's connections have another application name. */
const END = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name ~ '^mex \\S+ \\d+$'`;

/** Ends all connections of the exchanges, once a second. */
export async function endConnections(world: World, seconds: number): Promise<void> {
  for (let i = 0; i < seconds; i++) {
    await world.postgres.query(END);
    await sleep(1_000);
  }
}

/**
 * Takes every connection that the server has. For `seconds` seconds, repeatedly ends the connections of the exchanges
 * and takes them, too.
 */
export async function takeConnections(world: World, seconds: number): Promise<void> {
  await world.postgres.outOfReach(async () => {
    const taken: pg.Client[] = [];
    try {
      for (const end = Date.now() + seconds * 1_000; Date.now() < end; await sleep(20)) {
        await taken[0]?.query(END);
        for (let next = await take(world); next !== undefined; next = await take(world)) taken.push(next);
      }
    } finally {
      await Promise.all(taken.map((client) => client.end().catch(() => {})));
    }
  });
}

/** Takes a connection. Returns undefined if the server has no connection left. */
async function take(world: World): Promise<pg.Client | undefined> {
  const client = new pg.Client({ connectionString: world.postgres.url, application_name: 'rig taker' });
  client.on('error', () => {});
  try {
    await client.connect();
    return client;
  } catch (error) {
    if ((error as { code?: string }).code === '53300') return undefined;
    throw error;
  }
}
