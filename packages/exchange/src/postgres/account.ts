import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Binaries } from './binaries.ts';

/** The account that runs the PostgreSQL server and owns the cluster and its socket directory. */
export type Account = {
  uid: number;
  gid: number;
  /** A command that runs another command in a user namespace. Empty if no namespace is needed. */
  prefix: string[];
  identity: { uid?: number; gid?: number };
};

type Ids = { uid: number; gid: number };

/**
 * Returns the first account that can run the server, usually our own account. PostgreSQL refuses to run as root. So if
 * we are root, the server runs as the owner of the cluster, or of the data directory if no cluster exists. If root is
 * that owner, the server runs in a user namespace or as `nobody`. initdb also rejects an account without a name. In a
 * user namespace, such an account appears as `nobody`, which has a name.
 */
export async function chooseAccount(
  dataDir: string,
  clusterDir: string | undefined,
  binaries: Binaries,
  namespaces: boolean,
): Promise<Account> {
  const us = { uid: process.geteuid!(), gid: process.getegid!() };
  const owner = us.uid === 0 ? await stat(clusterDir ?? dataDir) : us;

  const candidates: Account[] = [];
  if (owner.uid !== 0) candidates.push(owner.uid === us.uid ? ourselves(us) : changeTo(owner));
  // If we are root and another account owns the cluster, try only that account, because the cluster must keep its
  // owner.
  if (us.uid !== 0 || owner.uid === 0 || clusterDir === undefined) {
    if (namespaces) candidates.push(inNamespace(us, await nobody()));
    if (us.uid === 0) candidates.push(changeTo(await nobody()));
  }

  const obstacles: string[] = [];
  for (const account of candidates) {
    const obstacle = await findObstacle(account, dataDir, binaries, clusterDir === undefined);
    if (obstacle === undefined) return account;
    obstacles.push(`- ${account.prefix[0] ?? `account ${account.uid}`}: ${obstacle}`);
  }
  throw new Error(
    `PostgreSQL cannot be run here${us.uid === 0 ? ' by root, which it refuses' : ''}. Tried:\n${obstacles.join('\n')}\n` +
      `It needs an account with a name, that can enter ${dataDir} and run ${binaries.postgres} (made for glibc). ` +
      'Start the exchange as an ordinary user with a name; or let others enter these folders (chmod o+x); ' +
      'or set MEX_DATA_DIR to another folder; or set DATABASE_URL to a PostgreSQL server.',
  );
}

/**
 * Starts a program as the account. The working directory is `/`, because every account has access to this directory.
 */
export function spawnAs(account: Account, program: string[], options: SpawnOptions): ChildProcess {
  const [command, ...args] = [...account.prefix, ...program];
  return spawn(command!, args, { ...options, ...account.identity, cwd: '/', env: environment() });
}

/**
 * Returns our environment variables with LC_ALL set to C. Omits variables that start with PG, such as PGDATA, because
 * initdb and postgres would read them.
 */
function environment(): NodeJS.ProcessEnv {
  const variables = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'));
  return { ...Object.fromEntries(variables), LC_ALL: 'C' };
}

/** Returns the error output if the account cannot run the server, or undefined if it can. */
async function findObstacle(
  account: Account,
  dataDir: string,
  binaries: Binaries,
  needsName: boolean,
): Promise<string | undefined> {
  const script = `${needsName ? 'id -un && ' : ''}cd "$1" && exec "$2" --version`;
  const program = ['/bin/sh', '-c', script, 'sh', dataDir, binaries.postgres];
  const child = spawnAs(account, program, { stdio: ['ignore', 'ignore', 'pipe'] });
  try {
    const [[code], complaint] = await Promise.all([once(child, 'close'), text(child.stderr!)]);
    return code === 0 ? undefined : complaint.trim();
  } catch (error) {
    return (error as Error).message; // The program did not start, for example because unshare is missing.
  }
}

function ourselves(us: Ids): Account {
  return { ...us, prefix: [], identity: {} };
}

/**
 * Returns an account that runs the server in a user namespace. There, the server has our access to files, but sees
 * itself as the account `seenAs` instead of our account.
 */
function inNamespace(us: Ids, seenAs: Ids): Account {
  const mapping = [`--map-user=${seenAs.uid}`, `--map-group=${seenAs.gid}`];
  return { ...us, prefix: ['unshare', '--user', ...mapping], identity: {} };
}

function changeTo({ uid, gid }: Ids): Account {
  // `spawn` expects signed numbers, but `stat` and `chown` use unsigned numbers. For example, the uid of `nobody` is -2
  // on macOS.
  return { uid: uid >>> 0, gid: gid >>> 0, prefix: [], identity: { uid: uid | 0, gid: gid | 0 } };
}

async function nobody(): Promise<Ids> {
  const entry = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(await readFile('/etc/passwd', 'utf8').catch(() => ''));
  return { uid: Number(entry?.[1] ?? 65534), gid: Number(entry?.[2] ?? 65534) };
}
