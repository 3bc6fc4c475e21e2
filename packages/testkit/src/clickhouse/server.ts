/** Provides a ClickHouse server for tests: the one at CLICKHOUSE_URL, or else chDB, started in a separate process. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installedChdb } from './engine.ts';

export interface TestServer {
  url: string;
  /**
   * The credentials of an account that can only read, and of an account that can do everything. With CLICKHOUSE_URL,
   * both are the same account.
   */
  reader: { user: string; password: string };
  writer: { user: string; password: string };
  stop(): Promise<void>;
}

const chdb = process.env.CLICKHOUSE_URL ? undefined : await installedChdb();

/** The reason that ClickHouse cannot run on this machine, or undefined if it can. */
export const skipped: string | undefined =
  chdb && 'reason' in chdb
    ? `ClickHouse was not tested: CLICKHOUSE_URL is not set, and ${chdb.reason}.`
    : undefined;
if (skipped !== undefined) console.warn(skipped);

export async function startClickHouse(): Promise<TestServer> {
  const {
    CLICKHOUSE_URL: url,
    CLICKHOUSE_USER: user = 'default',
    CLICKHOUSE_PASSWORD: password = '',
  } = process.env;
  console.warn(`ClickHouse is tested with ${url ? 'the server of CLICKHOUSE_URL' : 'chDB'}.`);
  if (url) return { url, reader: { user, password }, writer: { user, password }, stop: async () => {} };
  if (chdb === undefined || 'reason' in chdb) throw new Error(skipped);
  const folder = await mkdtemp(join(tmpdir(), 'chdb-'));
  const child = fork(fileURLToPath(new URL('front.ts', import.meta.url)), [folder, chdb.folder], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const [port] = await once(child, 'message');
  return {
    url: `http://127.0.0.1:${port}`,
    reader: { user: 'reader', password: 'reads/only?&' },
    writer: { user: 'default', password: '' },
    async stop() {
      child.kill('SIGKILL');
      await once(child, 'exit');
      await rm(folder, { recursive: true, force: true });
    },
  };
}
