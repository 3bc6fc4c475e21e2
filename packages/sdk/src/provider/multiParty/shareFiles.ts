/**
 * Stores each share or sketch in a file until a duchy has stored it. A share is a vector of random values, encrypted
 * for a duchy. It reveals nothing without the seed of the other share, and that seed is never on this disk in plain
 * text.
 */
import { mkdirSync } from 'node:fs';
import { access, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseName } from '@measurement-exchange/contract';

export type ShareFiles = ReturnType<typeof openShareFiles>;

/** Opens the folder for this provider's shares and sketches. Other providers may use the same folder. */
export function openShareFiles(folder: string, provider: string) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = (requisition: string) => join(folder, fileName(requisition));
  return {
    path,
    exists: (requisition: string) =>
      access(path(requisition)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return false;
          throw error;
        },
      ),
    remove: (requisition: string) => rm(path(requisition), { force: true }),
    /** Removes this provider's complete and partial files, except those of the given requisitions. */
    async removeOthers(requisitions: Iterable<string>): Promise<void> {
      const kept = new Set(Array.from(requisitions, fileName));
      const names = (await readdir(folder)).filter((name) => name.startsWith(`${provider.split('/')[1]}.`));
      const others = names.filter((name) => !kept.has(name.replace(/\.part$/, '')));
      await Promise.all(others.map((name) => rm(join(folder, name), { force: true })));
    },
  };
}

/**
 * Returns the name of the file for a requisition. IDs are safe in file names, because they have only letters, digits,
 * `-`, and `_`.
 */
function fileName(name: string): string {
  const ids = parseName('requisition', name);
  if (ids === undefined) throw new Error(`${JSON.stringify(name)} is not the name of a requisition.`);
  return `${ids.dataProvider}.${ids.requisition}.share`;
}
