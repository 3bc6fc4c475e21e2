import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import type { Binaries } from './binaries.ts';

/** Whom the server runs as, and so who owns the cluster and its socket directory. */
export type Account = {
  uid: number;
  gid: number;
  /** Put before the program: enters a user namespace. */
  prefix: string[];
  /** For spawn: the account to change to. */
  identity: { uid?: number; gid?: number };
};

type Ids = { uid: number; gid: number };

/**
 * Chooses the first account that can serve the cluster.
 *
 * Usually ourselves. PostgreSQL refuses root: root starts it for whoever owns the cluster, or before there
 * is one the data directory. What root itself owns is served from a user namespace, or, where there are
 * none (macOS, most containers), given to `nobody`. initdb refuses an account without a name, as in a
 * container run with any number as its user: in a user namespace we have one.
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
  // An existing cluster is not taken from its owner.
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

/** Starts a program as the account, in a directory every account may be in. */
export function spawnAs(account: Account, program: string[], options: SpawnOptions): ChildProcess {
  const [command, ...args] = [...account.prefix, ...program];
  return spawn(command!, args, { ...options, ...account.identity, cwd: '/', env: environment() });
}

/** The environment without PGDATA, PGPORT and the like, which would change what initdb and postgres do. */
function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('PG'));
  return { ...Object.fromEntries(kept), LC_ALL: 'C' };
}

/** Why the account cannot serve, in the words of the program that failed. */
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
    return (error as Error).message; // there is no unshare
  }
}

function ourselves(us: Ids): Account {
  return { ...us, prefix: [], identity: {} };
}

/**
 * In a user namespace we are seen under another number. We keep our files, so that root may serve a folder
 * only root may enter, but none of root's powers.
 */
function inNamespace(us: Ids, seenAs: Ids): Account {
  const mapping = [`--map-user=${seenAs.uid}`, `--map-group=${seenAs.gid}`];
  return { ...us, prefix: ['unshare', '--user', ...mapping], identity: {} };
}

function changeTo({ uid, gid }: Ids): Account {
  // spawn takes signed numbers, stat and chown unsigned ones: `nobody` is -2 on macOS.
  return { uid: uid >>> 0, gid: gid >>> 0, prefix: [], identity: { uid: uid | 0, gid: gid | 0 } };
}

async function nobody(): Promise<Ids> {
  const entry = /^nobody:[^:]*:(-?\d+):(-?\d+):/m.exec(await readFile('/etc/passwd', 'utf8').catch(() => ''));
  return { uid: Number(entry?.[1] ?? 65534), gid: Number(entry?.[2] ?? 65534) };
}
