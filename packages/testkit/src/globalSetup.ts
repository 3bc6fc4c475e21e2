/** One PostgreSQL server for the whole run, with a migrated template that every file clones in milliseconds. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '@measurement-exchange/exchange/internal/postgres/index';
import { migrate } from '@measurement-exchange/exchange/maintenance';
import pg from 'pg';
import type { TestProject } from 'vitest/node';

declare module 'vitest' {
  interface ProvidedContext {
    /** A server where tests may create databases. */
    serverUrl: string;
    template: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const { url, stop } = process.env.DATABASE_URL ? existing(process.env.DATABASE_URL) : await embedded();
  const template = `mex_template_${process.pid}`;
  await onServer(url, `CREATE DATABASE ${template} TEMPLATE template0 ENCODING 'UTF8'`);
  await migrate({ connection: { connectionString: withDatabase(url, template) }, mode: 'development' });
  project.provide('serverUrl', url);
  project.provide('template', template);
  return async () => {
    await onServer(url, `DROP DATABASE ${template} WITH (FORCE)`);
    await stop();
  };
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

/** The same server, another database. */
export function withDatabase(url: string, database: string): string {
  const [base, query] = url.split('?');
  return `${base!.replace(/\/[^/]*$/, `/${database}`)}${query ? `?${query}` : ''}`;
}
