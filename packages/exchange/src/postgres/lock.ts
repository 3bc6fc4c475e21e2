import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { socketDirectory } from './socket-directory.ts';

export type DataDirLock = { release(): Promise<void> };

/** The JSON that a lock's socket sends to every process that connects. */
type Claim = { holds: boolean; url?: string };

const responseTimeoutMs = 2_000;

export class DataDirInUse extends Error {}

/**
 * Makes this process the only exchange that uses the data directory, or throws DataDirInUse with the pid of the other
 * process.
 *
 * Each process first listens on its own socket, `<pid>-<random>.sock`, and then connects to all other sockets. The
 * later of two processes therefore always finds the earlier one. A process gets the lock when no other process is
 * listening. If two processes compete for the lock, the process whose socket name sorts first gets it. The kernel
 * closes the socket of a killed process. Socket names are never reused, so removing a dead socket is safe.
 */
export async function acquireDataDirLock(dataDir: string, info: { url?: string } = {}): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true });
  const home = await realpath(dataDir);
  // All socket names have the same length, so that all processes agree on whether the path is too long for a socket.
  const name = `${String(process.pid).padStart(7, '0')}-${randomBytes(4).toString('hex')}.sock`;
  // The owner of the data directory also owns the socket directory, so that root and the owner use the same directory.
  const directory = await socketDirectory(home, 'lock', name, await stat(home));
  const path = join(directory, name);

  const claim: Claim = { holds: false, ...info };
  const server = createServer((socket) => socket.on('error', () => {}).end(JSON.stringify(claim)));
  const release = async () => {
    await rm(path, { force: true });
    if (server.listening) await new Promise((closed) => server.close(closed));
  };
  try {
    // Other processes connect only to files that end in `.sock`. Add this ending only when the socket is listening,
    // because other processes conclude from a refused connection that this process is dead.
    const unseen = path.slice(0, -'.sock'.length);
    await once(server.listen(unseen), 'listening');
    server.unref();
    await rename(unseen, path);
    await outlastOthers(directory, name, dataDir);
  } catch (error) {
    await release();
    throw error;
  }
  claim.holds = true;
  return { release };
}

async function outlastOthers(directory: string, name: string, dataDir: string): Promise<void> {
  for (;;) {
    let alone = true;
    for (const other of await readdir(directory)) {
      if (!other.endsWith('.sock') || other === name) continue;
      const claim = await ask(join(directory, other));
      if (claim === 'dead') await rm(join(directory, other), { force: true });
      else if (claim === 'closing') alone = false;
      else if (claim.holds || other < name) throw new DataDirInUse(refusal(other, claim, dataDir));
      else alone = false;
    }
    if (alone) return;
    await sleep(10);
  }
}

/**
 * Asks the process that listens on the socket whether it holds the lock. A process that does not respond counts as
 * holding the lock, because it may be suspended or busy.
 */
async function ask(path: string): Promise<Claim | 'dead' | 'closing'> {
  const socket = createConnection(path).setTimeout(responseTimeoutMs, () =>
    socket.destroy(new Error('timeout')),
  );
  try {
    const response = await text(socket);
    return response === '' ? 'closing' : JSON.parse(response);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED' || code === 'ENOENT') return 'dead';
    return code === 'ECONNRESET' || code === 'EPIPE' ? 'closing' : { holds: true };
  }
}

function refusal(socketName: string, { url }: Claim, dataDir: string): string {
  const pid = Number.parseInt(socketName, 10);
  return (
    `Another exchange (pid ${pid}${url === undefined ? '' : `, ${url}`}) already uses this data directory ${dataDir}. ` +
    'Stop it, or set MEX_DATA_DIR to another folder (and PORT to another port), ' +
    'or point both at one server with DATABASE_URL.'
  );
}
