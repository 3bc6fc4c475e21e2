/** Starts an exchange in this process with its own database. Tests call the exchange over real HTTP. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { type AddPages, createLog, start } from '@measurement-exchange/exchange';
import { type Config, loadConfig } from '@measurement-exchange/exchange/config';
import { doctor } from '@measurement-exchange/exchange/maintenance';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject } from 'vitest';
import { undocumentedErrors } from './documentedErrors.ts';
import { onServer, withDatabase } from './globalSetup.ts';
import { call } from './http.ts';
import type { DevJson } from './requests.ts';

export * from './http.ts';
export * from './requests.ts';

export interface Database {
  url: string;
  query: (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;
  drop: () => Promise<void>;
}

/** Creates a database by cloning the migrated template database. */
export async function createDatabase(): Promise<Database> {
  const server = inject('serverUrl');
  const name = `mex_${randomBytes(6).toString('hex')}`;
  await onServer(server, `CREATE DATABASE ${name} TEMPLATE ${inject('template')} STRATEGY FILE_COPY`);
  const url = withDatabase(server, name);
  const pool = new pg.Pool({ connectionString: url, max: 4 });
  // Ignore errors of idle connections. Dropping the database may end connections that the pool is still closing.
  pool.on('error', () => {});
  return {
    url,
    query: async (text, values) => (await pool.query(text, values)).rows,
    drop: async () => {
      await pool.end();
      await onServer(server, `DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

export interface TestExchange {
  url: string;
  dev: DevJson;
  dataDir: string;
  database: Database;
  /** All lines logged so far. */
  logs: () => Promise<string[]>;
  call: typeof call;
  /**
   * Stops the exchange and deletes its data. Returns the errors that the database doctor found, and the error responses
   * that the routes do not document. Tests expect an empty list.
   */
  stop: () => Promise<string[]>;
}

type Prepare = (database: Database) => Promise<void>;

/** A rate limit per caller that no test reaches. */
export const UNLIMITED = { perSecond: 1e6, burst: 1e6 };

/** Starts an exchange. `prepare` is called before the start, and adds rows that the exchange needs. */
export async function startExchange(
  overrides: Partial<Config> = {},
  prepare: Prepare = async () => {},
  pages?: AddPages,
): Promise<TestExchange> {
  const dataDir = await mkdtemp(join(tmpdir(), 'mex-'));
  const database = await createDatabase();
  await prepare(database);
  const logs: string[] = [];
  const sink = new Writable({
    write(chunk, _encoding, done) {
      logs.push(String(chunk));
      done();
    },
  });
  const alone = { demoDuchies: false, demoAgents: false };
  const config = loadConfig(
    {},
    { mode: 'development', port: 0, dataDir, databaseUrl: database.url, ...alone, ...overrides },
  );
  const running = await start(config, createLog(config.logLevel, sink), pages);
  return {
    url: running.url,
    dev: JSON.parse(await readFile(join(dataDir, 'dev.json'), 'utf8')),
    dataDir,
    database,
    logs: async () => {
      // Request the metrics first, because this request makes the exchange flush its log.
      await fetch(`${running.url}/metrics`);
      return logs;
    },
    call: (token, method, path, body, headers) => call(token, method, `${running.url}${path}`, body, headers),
    stop: async () => {
      await running.stop();
      const ailments = await doctor({ connection: { connectionString: database.url } });
      await database.drop();
      await rm(dataDir, { recursive: true, force: true });
      const found = ailments.filter((a) => a.severity === 'error');
      return [...found.map((a) => `${a.check}: ${a.examples.join(', ')}`), ...undocumentedErrors(logs)];
    },
  };
}

/**
 * Starts an exchange before the tests of the caller's file or block and stops it after them. The tests fail if `stop`
 * returns errors. The returned object stays empty until the exchange has started.
 */
export function useExchange(overrides: Partial<Config> = {}, prepare?: Prepare): TestExchange {
  const exchange = {} as TestExchange;
  beforeAll(async () => {
    Object.assign(exchange, await startExchange(overrides, prepare));
  });
  afterAll(async () => {
    expect(await exchange.stop()).toEqual([]);
  });
  return exchange;
}
