/**
 * Provides one PostgreSQL server for all Vitest projects of a run. The server is the one at DATABASE_URL, or else an
 * embedded server. Test files clone a migrated template database on this server in milliseconds.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@measurement-exchange/exchange/internal/postgres/index';
import { migrate } from '@measurement-exchange/exchange/maintenance';
import pg from 'pg';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** The URL of a server on which tests may create databases. */
    serverUrl: string;
    template: string;
  }
}

interface Server {
  url: string;
  template: string;
  /** The number of projects that use the server. */
  users: number;
  stop: () => Promise<void>;
}

/** Each project may load this module again, so the server is stored in globalThis. */
const global = globalThis as { mexTestServer?: Promise<Server> | undefined };

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  global.mexTestServer ??= startServer();
  const server = await global.mexTestServer;
  server.users += 1;
  project.provide('serverUrl', server.url);
  project.provide('template', server.template);
  return async () => {
    server.users -= 1;
    if (server.users > 0) return;
    global.mexTestServer = undefined;
    await server.stop();
  };
}

async function startServer(): Promise<Server> {
  const { url, stop } = process.env.DATABASE_URL ? existing(process.env.DATABASE_URL) : await embedded();
  const template = `mex_template_${process.pid}`;
  await onServer(url, `CREATE DATABASE ${template} TEMPLATE template0 ENCODING 'UTF8'`);
  await migrate({ connection: { connectionString: withDatabase(url, template) }, mode: 'development' });
  const stopServer = async () => {
    await onServer(url, `DROP DATABASE ${template} WITH (FORCE)`);
    await onServer(url, `DROP DATABASE IF EXISTS ${template}_duchy WITH (FORCE)`);
    await stop();
  };
  return { url, template, users: 0, stop: stopServer };
}

function existing(url: string) {
  return { url, stop: async () => {} };
}

async function embedded() {
  const dataDir = await mkdtemp(join(tmpdir(), 'mex-test-'));
  const server = await startPostgres({ dataDir });
  const stop = async () => {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: server.url, stop };
}

export async function onServer(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}

/** Returns the URL of another database on the same server. */
export function withDatabase(url: string, database: string): string {
  const [base, query] = url.split('?');
  return `${base!.replace(/\/[^/]*$/, `/${database}`)}${query ? `?${query}` : ''}`;
}
