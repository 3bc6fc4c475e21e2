import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdir, readdir, realpath, rename, rm, stat } from 'node:fs/promises';
import { createConnection, createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { socketDirectory } from './socket-directory.ts';

export type DataDirLock = { release(): Promise<void> };

/** What a lock's socket answers to whoever connects. */
type Claim = { holds: boolean; url?: string };

const answerWithinMs = 2_000;

/** Another exchange runs on the data directory. */
export class DataDirInUse extends Error {}

/**
 * Makes this process the only exchange on the data directory, or says which one is.
 *
 * Whoever wants the lock first listens on a socket of its own, `<pid>-<random>.sock`, and only then looks
 * at the others'. Of any two, the later one therefore sees the earlier one, and holds only once no other
 * is left. Between two that are both still looking, the lower name goes on and the higher one gives up.
 * The kernel closes a killed process's socket, and as no name is used twice, removing a closed one can
 * never remove a new one.
 */
export async function acquireDataDirLock(dataDir: string, info: { url?: string } = {}): Promise<DataDirLock> {
  await mkdir(dataDir, { recursive: true });
  const home = await realpath(dataDir);
  // Of one length, so that all come to the same answer whether the path is too long.
  const name = `${String(process.pid).padStart(7, '0')}-${randomBytes(4).toString('hex')}.sock`;
  // The data directory's owner, not ours: root and the owner must meet in one place.
  const directory = await socketDirectory(home, 'lock', name, await stat(home));
  const path = join(directory, name);

  const claim: Claim = { holds: false, ...info };
  const server = createServer((socket) => socket.on('error', () => {}).end(JSON.stringify(claim)));
  const release = async () => {
    await rm(path, { force: true });
    if (server.listening) await new Promise((closed) => server.close(closed));
  };
  try {
    // Renamed into sight: between bind and listen a socket refuses connections, as a dead one does.
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

/** The claim behind a socket. Who listens but does not answer, holds: it is stopped or very busy. */
async function ask(path: string): Promise<Claim | 'dead' | 'closing'> {
  const socket = createConnection(path).setTimeout(answerWithinMs, () =>
    socket.destroy(new Error('timeout')),
  );
  try {
    const answer = await text(socket);
    return answer === '' ? 'closing' : JSON.parse(answer);
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
