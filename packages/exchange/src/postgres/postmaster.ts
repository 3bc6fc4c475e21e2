import { execFile } from 'node:child_process';
import { readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/**
 * A cluster's directory. `dev` and `ino` stay the same when the directory is moved, so they still identify the working
 * directory of the cluster's server.
 */
export type Cluster = { path: string; dev: bigint; ino: bigint };

export async function openCluster(path: string): Promise<Cluster> {
  const { dev, ino } = await stat(path, { bigint: true });
  return { path, dev, ino };
}

/** Returns the pid of the cluster's server, or undefined if no server is running. */
export async function findPostmaster(cluster: Cluster): Promise<number | undefined> {
  const pidFile = join(cluster.path, 'postmaster.pid');
  const pid = Number.parseInt(await readFile(pidFile, 'utf8').catch(() => ''), 10);
  if (!(pid > 0)) return undefined;
  if (await isPostmaster(pid, cluster)) return pid;
  // Remove the pid file of a killed server. PostgreSQL would not start if another process of the account now has that
  // pid.
  await rm(pidFile, { force: true });
  return undefined;
}

/**
 * Tries a fast shutdown, which disconnects clients and flushes data. If that takes too long, tries an immediate
 * shutdown.
 */
export async function stopPostmaster(pid: number, cluster: Cluster): Promise<void> {
  // An immediate shutdown loses no data. The next start is slower, because it replays the WAL.
  for (const [signal, patienceMs] of [
    ['SIGINT', 20_000],
    ['SIGQUIT', 10_000],
  ] as const) {
    const deadline = Date.now() + patienceMs;
    if (await isPostmaster(pid, cluster)) sendSignal(pid, signal);
    while (Date.now() < deadline) {
      if (!(await isPostmaster(pid, cluster))) return;
      await sleep(10);
    }
  }
  throw new Error(`PostgreSQL (pid ${pid}) does not stop: end it with "kill -9 ${pid}".`);
}

function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error; // ESRCH: the process has just ended.
  }
}

/**
 * Returns whether the process is the cluster's server. Returns false for a zombie, and for another process with this
 * pid.
 */
export async function isPostmaster(pid: number, cluster: Cluster): Promise<boolean> {
  if (process.platform === 'linux') {
    // Compare the process's working directory with the cluster's directory, because every PostgreSQL server runs in the
    // directory of its cluster.
    const cwd = await stat(`/proc/${pid}/cwd`, { bigint: true }).catch(() => undefined);
    return cwd?.dev === cluster.dev && cwd.ino === cluster.ino;
  }
  const listed = await promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]).catch(
    () => undefined,
  );
  return listed?.stdout.includes(cluster.path) ?? false;
}
