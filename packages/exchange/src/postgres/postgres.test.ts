import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { reachable } from '@measurement-exchange/testkit/accounts';
import { isStress } from '@measurement-exchange/testkit/rounds';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { unfinished } from './cluster.ts';
import { findPostmaster, isPostmaster, openCluster, stopPostmaster } from './postmaster.ts';
import { type EmbeddedPostgres, type StartOptions, startPostgres } from './server.ts';

const isRoot = process.geteuid!() === 0;
const isRootAmongOthers = isRoot && reachable;
const nobody = 65534;
const nameless = 54321;

let folder: string;
let dataDir: string;
let children: ChildProcess[];
let shortDirectories: string[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mex-pg-test-'));
  chmodSync(folder, 0o755);
  dataDir = join(folder, 'data');
  [children, shortDirectories] = [[], []];
});

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL');
  const cluster = await openCluster(join(dataDir, 'pg')).catch(() => undefined);
  const pid = cluster && (await findPostmaster(cluster));
  if (pid !== undefined) await stopPostmaster(pid, cluster!);
  for (const path of [folder, ...shortDirectories])
    rmSync(path, { recursive: true, force: true, maxRetries: 5 });
});

const start = (options: Partial<StartOptions> = {}) => startPostgres({ dataDir, ...options });

async function query(server: EmbeddedPostgres, sql: string) {
  const client = new pg.Client(server.url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

const writeRow = (server: EmbeddedPostgres) =>
  query(server, 'CREATE TABLE stored_rows AS SELECT 42 AS answer');
const readRow = (server: EmbeddedPostgres) => query(server, 'SELECT answer FROM stored_rows');
const changeRow = (server: EmbeddedPostgres) => query(server, 'UPDATE stored_rows SET answer = 43');
const [row, changedRow] = [[{ answer: 42 }], [{ answer: 43 }]];

async function waysIn(server: EmbeddedPostgres): Promise<string[]> {
  const rules = await query(server, 'SELECT DISTINCT type, error FROM pg_hba_file_rules ORDER BY 1');
  return rules.map(({ type, error }) => error ?? type);
}

const SETTINGS = `SELECT current_user, current_database(), pg_encoding_to_char(encoding) AS encoding, ${[
  ...['listen_addresses', 'data_checksums', 'fsync', 'full_page_writes', 'synchronous_commit'],
  ...['max_connections', 'timezone'],
]
  .map((name) => `current_setting('${name}') AS ${name}`)
  .join(', ')} FROM pg_database WHERE datname = current_database()`;

// Create the cluster only once. The tests start servers on copies of it, which takes a tenth of the time.
const earlier = mkdtempSync(join(tmpdir(), 'mex-pg-test-'));

/** The first server, the state of its files after the start, and its settings. */
let first: {
  server: EmbeddedPostgres;
  entries: string[];
  modes: number[];
  owners: number[];
  settings: object;
  ways: string[];
};

beforeAll(async () => {
  // Simulate a start that was killed while it created the cluster. Such a start leaves this directory.
  mkdirSync(join(earlier, `${unfinished}killed`, 'base', '1'), { recursive: true });
  if (isRootAmongOthers) chownSync(earlier, nobody, nobody);
  const server = await startPostgres({ dataDir: earlier });
  try {
    const folders = ['pg', 'pg-socket'].map((name) => statSync(join(earlier, name)));
    const [settings] = await query(server, SETTINGS);
    first = {
      server,
      entries: readdirSync(earlier).sort(),
      modes: folders.map(({ mode }) => mode & 0o777),
      owners: [statSync(`/proc/${server.pid}`), ...folders].map(({ uid }) => uid),
      settings,
      ways: await waysIn(server),
    };
    await writeRow(server);
  } finally {
    await server.stop();
  }
});

afterAll(() => rmSync(earlier, { recursive: true }));

function startedEarlier(path = dataDir): void {
  dataDir = path;
  cpSync(join(earlier, 'pg'), join(dataDir, 'pg'), { recursive: true });
}

/**
 * Starts another process, in its own process group. The process runs `before`, starts the server, prints the server's
 * pid, and runs `after`. Then the process ends, unless `after` keeps it running.
 */
function starter({
  after = '',
  before = '',
  ...options
}: {
  after?: string;
  before?: string;
  uid?: number;
  gid?: number;
}) {
  const module = new URL('index.ts', import.meta.url);
  const program = `
    import { acquireDataDirLock, startPostgres } from ${JSON.stringify(module)};
    const dataDir = ${JSON.stringify(dataDir)};
    ${before}
    const server = await startPostgres({ dataDir });
    console.log(server.pid);
    ${after}`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], {
    ...options,
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  return child;
}

describe('the first start', () => {
  it('creates a private cluster with safe settings and a database, reachable only through a socket', () => {
    const { server, modes, settings, ways } = first;
    expect(server).toMatchObject({
      attached: false,
      version: expect.stringMatching(/^18\./),
      connection: { host: join(earlier, 'pg-socket'), user: 'mex_owner', database: 'mex' },
    });
    expect(modes).toEqual([0o700, 0o700]);
    expect(settings).toEqual({
      ...{ current_user: 'mex_owner', current_database: 'mex', encoding: 'UTF8' },
      ...{
        listen_addresses: '',
        data_checksums: 'on',
        fsync: 'on',
        full_page_writes: 'on',
        synchronous_commit: 'on',
      },
      ...{ max_connections: '100', timezone: 'UTC' },
    });
    expect(ways).toEqual(['local']);
  });

  /**
   * An earlier version of the exchange created clusters with more permissive access rules in pg_hba.conf, so each start
   * must replace the rules.
   */
  it('allows only socket connections, and so does a later start with permissive pg_hba.conf rules', async () => {
    startedEarlier();
    const tcp = 'local all all trust\nhost all all 127.0.0.1/32 trust\nhost replication all ::1/128 trust\n';
    writeFileSync(join(dataDir, 'pg', 'pg_hba.conf'), tcp);
    expect(await waysIn(await start())).toEqual(['local']);
  });

  it('removes the files of an earlier start that was killed', () => {
    expect(first.entries).toEqual(['pg', 'pg-socket', 'postgres.log']);
  });

  it.runIf(isStress)('starts over if an earlier start was killed while it created the cluster', async () => {
    const killed = starter({});
    const unfinished = () =>
      readdirSync(folder, { recursive: true }).some((path) => String(path).endsWith('base/1'));
    while (!unfinished()) await new Promise((resolve) => setTimeout(resolve, 5));
    process.kill(-killed.pid!, 'SIGKILL'); // also kills its initdb
    await once(killed, 'exit');
    expect(readdirSync(dataDir)).not.toContain('pg');

    await writeRow(await start());
    expect(readdirSync(dataDir).sort()).toEqual(['pg', 'pg-socket', 'postgres.log']);
  });

  it('succeeds in exactly one of two processes that start concurrently as a user without a name', async () => {
    const before = 'await acquireDataDirLock(dataDir);';
    const user = isRootAmongOthers ? { uid: nameless, gid: nameless } : {};
    if (isRootAmongOthers) chownSync(folder, nameless, nameless);
    const pair = [0, 1].map(() => starter({ ...user, before, after: 'setInterval(() => {}, 1000);' }));
    const [started, refused] = await Promise.all([
      Promise.any(pair.map((child) => once(child.stdout!, 'data'))),
      Promise.any(pair.map((child) => once(child, 'exit'))),
    ]);
    const pid = Number(started[0]);
    expect(pid).toBe(Number.parseInt(readFileSync(join(dataDir, 'pg/postmaster.pid'), 'utf8'), 10));
    expect(refused[0]).toBe(1);
    const [winner, ...others] = pair.filter((child) => child.exitCode === null);
    expect(others).toEqual([]);
    const uid = user.uid ?? process.geteuid!();
    for (const path of [`/proc/${pid}`, join(dataDir, 'pg')]) expect(statSync(path).uid).toBe(uid);

    winner!.kill();
    await once(winner!, 'exit');
    expect(await start()).toMatchObject({ attached: true, pid });
  });
});

describe('a later start', () => {
  it('finds the data, and stop() leaves no process', async () => {
    startedEarlier();
    const first = await start();
    await changeRow(first);
    const cluster = await openCluster(join(dataDir, 'pg'));
    expect(await isPostmaster(first.pid, cluster)).toBe(true);
    await Promise.all([first.stop(), first.stop()]);
    expect(await isPostmaster(first.pid, cluster)).toBe(false);
    // Retry, because the parent process may take a moment to reap the process.
    await vi.waitFor(() => expect(() => process.kill(first.pid, 0)).toThrow('ESRCH'), 30_000);
    const log = readFileSync(join(dataDir, 'postgres.log'), 'utf8');
    expect(log).toMatch(/fast shutdown request.*database system is shut down\n$/s);

    const second = await start();
    expect(second.attached).toBe(false);
    expect(await readRow(second)).toEqual(changedRow);
  });

  it.each(['SIGKILL', 'SIGINT'] as const)(
    'attaches to the server of a process group ended by %s',
    async (signal) => {
      startedEarlier();
      const child = starter({ after: 'setInterval(() => {}, 1000);' });
      const pid = Number(await once(child.stdout!, 'data'));
      await changeRow(await start());
      process.kill(-child.pid!, signal);
      await once(child, 'exit');

      const server = await start();
      expect(server).toMatchObject({ attached: true, pid });
      expect(await readRow(server)).toEqual(changedRow);
      await server.stop();
      expect(await isPostmaster(pid, await openCluster(join(dataDir, 'pg')))).toBe(false);
    },
  );

  it('attaches to the server of a process that exited normally while its server was running', async () => {
    startedEarlier();
    expect(await once(starter({}), 'exit')).toEqual([0, null]);
    expect((await start()).attached).toBe(true);
  });

  it('recovers after the server itself was killed', async () => {
    startedEarlier();
    const killed = await start();
    await changeRow(killed);
    process.kill(killed.pid, 'SIGKILL');
    const server = await start();
    expect(server.attached).toBe(false);
    expect(await readRow(server)).toEqual(changedRow);
  });

  it('ignores a pid file whose pid now belongs to another process', async () => {
    startedEarlier();
    const other = spawn('sleep', ['60']);
    children.push(other);
    writeFileSync(join(dataDir, 'pg/postmaster.pid'), `${other.pid}\n${dataDir}/pg\n1700000000\n5432\n\n\n`);
    expect((await start()).attached).toBe(false);
    expect(other.exitCode ?? other.signalCode).toBe(null);
  });

  it("reports PostgreSQL's own error when it does not start", async () => {
    startedEarlier();
    writeFileSync(join(dataDir, 'pg/postgresql.conf'), 'no_such_setting = 1');
    await expect(start()).rejects.toThrow(/postgres\.log, says:\n.*no_such_setting/);
  });
});

describe('the data directory', () => {
  it('may have a name with spaces, commas and quotes', async () => {
    startedEarlier(join(folder, `it's "my" data, 100 %`));
    const server = await start();
    expect(server.connection.host).toBe(join(dataDir, 'pg-socket'));
    expect(await readRow(server)).toEqual(row);
  });

  it('may have a path too long for a socket, which is then in a private directory in /tmp', async () => {
    startedEarlier(join(folder, 'long'.repeat(25)));
    const server = await start();
    const { host } = server.connection;
    shortDirectories.push(host);
    expect(dirname(host)).toBe('/tmp');
    expect(statSync(host).mode & 0o777).toBe(0o700);
    expect((await start()).attached).toBe(true);

    await server.stop();
    chmodSync(host, 0o755); // Other users can now enter the directory, so the next start must fail.
    await expect(start()).rejects.toThrow(`${host} must be a directory of account`);
  });

  it.runIf(isRoot)('may be in a folder that only root can enter', async () => {
    startedEarlier();
    chmodSync(folder, 0o700);
    expect(await readRow(await start())).toEqual(row);
  });
});

it('explains what to do about a cluster of another major version', async () => {
  startedEarlier();
  writeFileSync(join(dataDir, 'pg/PG_VERSION'), '17\n');
  await expect(start()).rejects.toThrow(
    /pg is of PostgreSQL 17, and the installed version is 18\..*Upgrading/,
  );
});

describe.runIf(isRoot)('root', () => {
  it.runIf(reachable)('without user namespaces runs the server as the account nobody', async () => {
    startedEarlier();
    const server = await start({ namespaces: false });
    expect(statSync(`/proc/${server.pid}`).uid).toBe(nobody);
    expect(await readRow(server)).toEqual(row);
  });

  it.skipIf(reachable)(
    'without user namespaces explains what to do if the account nobody cannot reach the binaries',
    async () => {
      startedEarlier();
      await expect(start({ namespaces: false })).rejects.toThrow(/let others enter these folders/);
    },
  );

  it.runIf(reachable)('runs the server as the owner of the data directory', () => {
    expect(first.owners).toEqual([nobody, nobody, nobody]);
  });

  it('without user namespaces explains what to do if the account nobody cannot enter the folder', async () => {
    chmodSync(folder, 0o700);
    await expect(start({ namespaces: false })).rejects.toThrow(
      /by root, which it refuses.*account 65534: .*cd.*Start the exchange as an ordinary user.*DATABASE_URL/s,
    );
  });
});

describe.runIf(isRootAmongOthers && isStress)('an ordinary user', () => {
  it.each([
    ['with a name', nobody],
    ['without a name', nameless],
  ])('%s starts the server', async (_, uid) => {
    chownSync(folder, uid, uid);
    const child = starter({ uid, gid: uid });
    const pid = Number(await once(child.stdout!, 'data'));
    expect(statSync(`/proc/${pid}`).uid).toBe(uid);
    expect(statSync(join(dataDir, 'pg')).uid).toBe(uid);
    await once(child, 'exit');
    expect(await start()).toMatchObject({ attached: true, pid });
  });
});
