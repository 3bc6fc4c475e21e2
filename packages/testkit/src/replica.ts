/** A replica of an exchange, to run background jobs with a clock that is ahead. The replica serves no requests. */
import { type Timestamp, timestampOf } from '@measurement-exchange/contract';
import { Database } from '@measurement-exchange/exchange/internal/database/db';
import { afterAll, beforeAll } from 'vitest';
import type { TestExchange } from './exchange.ts';

const HOUR_MS = 3600_000;

/** Returns a function that makes a replica. The replica's clock is `hoursAhead` hours ahead, so rows seem older. */
export function useReplica(exchange: TestExchange) {
  let db: Database;
  beforeAll(() => {
    db = new Database({
      connection: { connectionString: exchange.database.url },
      applicationName: 'test',
      maxConnections: 2,
    });
  });
  afterAll(() => db.close());
  return (hoursAhead: number) => ({
    db,
    clock: (): Timestamp => timestampOf(Date.now() + hoursAhead * HOUR_MS),
  });
}
