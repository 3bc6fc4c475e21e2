import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type Database } from './harness.ts';
import { startProcess } from './processes.ts';

describe('a planted bug', () => {
  let database: Database;
  beforeAll(async () => {
    database = await createDatabase();
  });
  afterAll(() => database.drop());

  const startWith = (bug: string) =>
    startProcess({ databaseUrl: database.url, env: { MEX_PLANTED_BUG: bug } });

  it('is announced by the exchange that has it', async () => {
    const exchange = await startWith('read-cache');
    expect(exchange.output()).toContain('PLANTED BUG: read-cache. This exchange is broken on purpose.');
    await exchange.remove();
  });

  it('that does not exist is no way to start', async () => {
    await expect(startWith('red-cache')).rejects.toThrow('MEX_PLANTED_BUG must be one of no-parent-lock, ');
  });
});
