import { chmod, mkdir, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Account, chooseAccount, spawnAs } from './account.ts';
import { type Binaries, findBinaries } from './binaries.ts';
import {
  allowSocketOnly,
  createCluster,
  giveCluster,
  hasCluster,
  requireSameMajor,
  superuser,
} from './cluster.ts';
import { type Connection, connectionUrl, openDatabase, type ServerFacts } from './connection.ts';
import { openLog } from './log.ts';
import { type Cluster, findPostmaster, isPostmaster, openCluster, stopPostmaster } from './postmaster.ts';
import { socketDirectory } from './socket-directory.ts';

export type EmbeddedPostgres = Awaited<ReturnType<typeof startPostgres>>;

export type StartOptions = {
  dataDir: string;
  log?: (message: string) => void;
  /** For tests: false simulates a machine without user namespaces. */
  namespaces?: boolean;
};

/** The port in the name of the Unix socket. No TCP port is opened. */
const port = 5432;
/**
 * The maximum wait until PostgreSQL listens. PostgreSQL usually takes milliseconds to start, or seconds on a very busy
 * machine.
 */
const silenceMs = 20_000;

/**
 * Starts PostgreSQL on `<dataDir>/pg`, or attaches to a server that still runs there. The server runs in a separate
 * session, so neither Ctrl-C nor the end of this process stops the server. Only stop() stops the server. The caller of
 * stop() must hold the lock on the data directory.
 */
export async function startPostgres(options: StartOptions) {
  const { dataDir, log = () => {}, namespaces = true } = options;
  await mkdir(dataDir, { recursive: true });
  const home = await realpath(dataDir);
  const clusterDir = join(home, 'pg');
  const binaries = findBinaries();
  const exists = hasCluster(clusterDir);
  const account = await chooseAccount(home, exists ? clusterDir : undefined, binaries, namespaces);
  const host = await socketDirectory(home, 'pg-socket', `.s.PGSQL.${port}`, account);
  const connection = { host, port, user: superuser, database: 'mex' };

  if (!exists) {
    log(`making a PostgreSQL cluster in ${clusterDir}`);
    await createCluster(home, clusterDir, account, binaries);
  }
  const cluster = await openCluster(clusterDir);
  const found = await attach(cluster, connection, log);
  const server = found ?? (await launch(home, cluster, account, binaries, connection, log));

  let stopped: Promise<void> | undefined;
  return {
    connection,
    url: connectionUrl(connection),
    ...server,
    /** True if the server was already running, because the exchange that started it was killed. */
    attached: found !== undefined,
    stop: () => (stopped ??= stopPostmaster(server.pid, cluster)),
  };
}

async function attach(cluster: Cluster, connection: Connection, log: Log): Promise<ServerFacts | undefined> {
  const pid = await findPostmaster(cluster);
  if (pid === undefined) return undefined;
  const server = await untilReady(connection, pid, () => isPostmaster(pid, cluster), log);
  if (server === undefined && (await isPostmaster(pid, cluster))) {
    // The server runs but cannot be reached, for example because its socket was removed. The caller then starts a new
    // server.
    log(`PostgreSQL (pid ${pid}) does not respond: restarting it`);
    await stopPostmaster(pid, cluster);
  }
  return server;
}

async function launch(
  dataDir: string,
  cluster: Cluster,
  account: Account,
  binaries: Binaries,
  connection: Connection,
  log: Log,
): Promise<ServerFacts> {
  await requireSameMajor(cluster.path);
  if ((await stat(cluster.path)).uid !== account.uid) await giveCluster(cluster.path, account);
  await allowSocketOnly(cluster.path);
  await chmod(cluster.path, 0o700); // A restore may let others read the cluster directory, which PostgreSQL rejects.
  const serverLog = await openLog(join(dataDir, 'postgres.log'));
  const settings = {
    listen_addresses: '', // TCP is never used.
    unix_socket_directories: `"${connection.host.replaceAll('"', '""')}"`,
    unix_socket_permissions: '0700',
    port: String(port),
    timezone: 'UTC',
    log_timezone: 'UTC',
    // Do not log statement errors, because the exchange reports them. The log then stays small and contains no data.
    log_min_messages: 'log',
  };
  const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const child = spawnAs(account, [binaries.postgres, '-D', cluster.path, ...args], {
    detached: true,
    stdio: ['ignore', serverLog.fd, serverLog.fd],
  });
  child.on('error', () => {}); // If the spawn fails, the child has no pid, and `running` is false.
  child.unref();

  const running = () => child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  try {
    const server = await untilReady(connection, child.pid ?? 0, running, log);
    if (server !== undefined) return server;
    throw new Error(`PostgreSQL did not start. Its log, ${serverLog.path}, says:\n${await serverLog.tail()}`);
  } catch (error) {
    if (running()) child.kill('SIGINT');
    throw error;
  } finally {
    await serverLog.close();
  }
}

/**
 * Waits for the server. Returns undefined if it exits or does not respond in time. Throws if the server of another data
 * directory listens on the socket.
 */
async function untilReady(
  connection: Connection,
  pid: number,
  running: () => boolean | Promise<boolean>,
  log: Log,
): Promise<ServerFacts | undefined> {
  const began = Date.now();
  let [lastSign, logged] = [began, false];
  for (; await running(); await sleep(20)) {
    const state = await openDatabase(connection);
    if (state === 'silent') {
      if (Date.now() - lastSign > silenceMs) return undefined;
    } else if (state === 'busy') {
      // Keep waiting, because recovery and shutdown may take a long time but end by themselves.
      lastSign = Date.now();
      if (!logged && lastSign - began > 1_000) log('waiting for PostgreSQL, which is recovering or stopping');
      logged ||= lastSign - began > 1_000;
    } else if (state.pid !== pid) {
      throw new Error(
        `PostgreSQL of another folder (pid ${state.pid}) listens in ${connection.host}: stop it first.`,
      );
    } else {
      return state;
    }
  }
  return undefined;
}

type Log = (message: string) => void;
