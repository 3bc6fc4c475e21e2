/** Makes requests acquire the lock of a measurement in an order that the test chooses. */
import pg from 'pg';
import { expect } from 'vitest';
import type { TestExchange } from './exchange.ts';

/**
 * Locks the measurement, and starts the requests in `attempts` in order. Each request starts when the previous one
 * waits for the lock. When all requests wait, releases the lock, and returns the results of the requests.
 */
export async function inTurn(
  exchange: TestExchange,
  measurement: { name: string },
  attempts: (() => Promise<string>)[],
): Promise<string[]> {
  const holder = new pg.Client({ connectionString: exchange.database.url });
  await holder.connect();
  try {
    await holder.query('BEGIN');
    const id = measurement.name.split('/').at(-1);
    await holder.query('SELECT 1 FROM measurements WHERE id = $1 FOR UPDATE', [id]);
    const waiting = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
    const running: Promise<string>[] = [];
    for (const attempt of attempts) {
      running.push(attempt());
      await expect
        .poll(async () => (await exchange.database.query(waiting)).length, { interval: 5, timeout: 5_000 })
        .toBe(running.length);
    }
    await holder.query('COMMIT');
    return await Promise.all(running);
  } finally {
    await holder.end();
  }
}
