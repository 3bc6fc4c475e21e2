import { createHash } from 'node:crypto';
import { lchown, lstat, mkdir } from 'node:fs/promises';
import { join } from 'node:path';

/** The maximum length of a socket path, in bytes. The kernel has 108 bytes (104 on macOS) for the path and a NUL. */
const longestPath = process.platform === 'linux' ? 107 : 103;

/**
 * Creates a directory that only its owner can enter: `<dataDir>/<name>`, or a directory in /tmp if the socket's path
 * would be too long. os.tmpdir() does not help, because TMPDIR may be long and may differ between shells.
 */
export async function socketDirectory(
  dataDir: string,
  name: string,
  socketName: string,
  owner: { uid: number; gid: number },
): Promise<string> {
  const inside = join(dataDir, name);
  const fits = Buffer.byteLength(join(inside, socketName)) <= longestPath;
  const hash = createHash('sha256').update(inside).digest('hex').slice(0, 16);
  const directory = fits ? inside : `/tmp/mex-${owner.uid}-${hash}`;

  const made = await mkdir(directory, { mode: 0o700 }).then(
    () => true,
    (error) => {
      if (error.code === 'EEXIST') return false;
      throw error;
    },
  );
  // Every account can create files in /tmp. So check the owner of a directory that already exists there, and never
  // change its owner.
  if (process.geteuid!() === 0 && (made || fits)) await lchown(directory, owner.uid, owner.gid);
  const found = await lstat(directory);
  if (!found.isDirectory() || found.uid !== owner.uid || (found.mode & 0o077) !== 0) {
    throw new Error(
      `${directory} must be a directory of account ${owner.uid} with mode 0700, and is not: remove it and start again.`,
    );
  }
  return directory;
}
