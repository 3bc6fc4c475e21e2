import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { lchown, mkdtemp, open, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type Account, spawnAs } from './account.ts';
import { type Binaries, binariesVersion } from './binaries.ts';

export const superuser = 'mex_owner';

export const unfinished = 'pg-unfinished-';

/**
 * Creates the cluster in a temporary directory, and renames the directory to `clusterDir` when the cluster is complete
 * and on disk. If the start is killed halfway, no partial cluster remains in `clusterDir`.
 */
export async function createCluster(
  dataDir: string,
  clusterDir: string,
  account: Account,
  binaries: Binaries,
): Promise<void> {
  for (const entry of await readdir(dataDir)) {
    // Ignore errors, because the initdb of a killed start may still be writing here. The next start tries again.
    if (entry.startsWith(unfinished)) await rm(join(dataDir, entry), { recursive: true }).catch(() => {});
  }
  const directory = await mkdtemp(join(dataDir, unfinished));
  try {
    if (account.identity.uid !== undefined) await lchown(directory, account.uid, account.gid);
    await initdb(directory, account, binaries);
    await rename(directory, clusterDir);
  } catch (error) {
    await rm(directory, { recursive: true, force: true });
    throw error;
  }
  const parent = await open(dataDir);
  await parent.sync().finally(() => parent.close());
}

async function initdb(directory: string, account: Account, binaries: Binaries): Promise<void> {
  const child = spawnAs(
    account,
    [
      ...[binaries.initdb, '--pgdata', directory, '--username', superuser],
      '--auth=trust',
      '--data-checksums',
      // With this locale, every machine sorts strings in the same order.
      ...['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'],
      '--no-instructions',
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const [[code], complaints] = await Promise.all([once(child, 'close'), text(child.stderr!)]).catch(
    (cause) => {
      throw new Error(
        `${binaries.initdb} does not run here (it needs glibc: not Alpine). Set DATABASE_URL to a PostgreSQL server.`,
        { cause },
      );
    },
  );
  if (code !== 0)
    throw new Error(`PostgreSQL could not make its cluster in ${directory}: ${complaints.trim()}`);
}

const ACCESS = `# Written at every start. Only the account of the server may enter the directory of its socket: there is no other way in.
local all,replication all trust
`;

/**
 * Allows connections only over the Unix socket. The default file of initdb would also allow TCP connections from this
 * machine.
 */
export async function allowSocketOnly(clusterDir: string): Promise<void> {
  await writeFile(join(clusterDir, 'pg_hba.conf'), ACCESS);
}

/** Makes `account` the owner of the cluster's files, for example if root created the cluster. */
export async function giveCluster(clusterDir: string, account: Pick<Account, 'uid' | 'gid'>): Promise<void> {
  for (const entry of await readdir(clusterDir, { recursive: true })) {
    await lchown(join(clusterDir, entry), account.uid, account.gid);
  }
  // Change the directory last, because launch() reads its owner to tell whether the change is complete.
  await lchown(clusterDir, account.uid, account.gid);
}

/**
 * Throws if another major version of PostgreSQL created the cluster. PostgreSQL's own error would be hard to
 * understand.
 */
export async function requireSameMajor(clusterDir: string): Promise<void> {
  const made = (await readFile(join(clusterDir, 'PG_VERSION'), 'utf8')).trim();
  const ours = await binariesVersion();
  if (ours.split('.', 1)[0] === made) return;
  throw new Error(
    `${clusterDir} is of PostgreSQL ${made}, and the installed version is ${ours}, which cannot read it. ` +
      'Run the version of the exchange that you ran before; docs/operating.md says under Upgrading what to do next.',
  );
}

export function hasCluster(clusterDir: string): boolean {
  return existsSync(join(clusterDir, 'PG_VERSION'));
}
