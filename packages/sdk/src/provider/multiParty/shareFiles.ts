/**
 * The shares that were made and not taken yet, a file each. A share is a vector of random values, encrypted for the duchy
 * that takes it: without its seed, which is nowhere on this disk, it tells nothing.
 */
import { mkdirSync } from 'node:fs';
import { access, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { parseName } from '@measurement-exchange/contract';

/** A folder of shares, by requisition. */
export interface ShareFiles {
  path(requisition: string): string;
  exists(requisition: string): Promise<boolean>;
  remove(requisition: string): Promise<void>;
  /** Removes what no requisition of these needs, also what a crash left half written. */
  removeOthers(requisitions: Iterable<string>): Promise<void>;
}

/** The shares of one provider: others may use the same folder. */
export function openShareFiles(folder: string, provider: string): ShareFiles {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const path = (requisition: string) => join(folder, fileName(requisition));
  return {
    path,
    exists: (requisition) =>
      access(path(requisition)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'ENOENT') return false;
          throw error;
        },
      ),
    remove: (requisition) => rm(path(requisition), { force: true }),
    async removeOthers(requisitions) {
      const kept = new Set(Array.from(requisitions, fileName));
      const names = (await readdir(folder)).filter((name) => name.startsWith(`${provider.split('/')[1]}.`));
      const others = names.filter((name) => !kept.has(name.replace(/\.part$/, '')));
      await Promise.all(others.map((name) => rm(join(folder, name), { force: true })));
    },
  };
}

/** IDs have letters, digits, - and _ only. */
function fileName(name: string): string {
  const ids = parseName('requisition', name);
  if (ids === undefined) throw new Error(`${JSON.stringify(name)} is no name of a requisition.`);
  return `${ids.dataProvider}.${ids.requisition}.share`;
}
