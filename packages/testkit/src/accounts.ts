/** Finds an ordinary account under which tests can start processes, even if root runs the tests. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Account, MEX } from './process.ts';

export const NOBODY = 65534;

/**
 * Returns an account that is not root, because the exchange refuses to run as root in production. Returns undefined if
 * no such account can run the code of this checkout.
 */
export function ordinaryAccount(): Account | undefined {
  if (process.geteuid!() !== 0) return { prefix: [], identity: {} };
  // Prefer a user namespace. The process is then not root, but can still read the checkout, even inside a folder that
  // only root may enter.
  const namespace = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
  if (spawnSync(namespace[0]!, [...namespace.slice(1), 'true']).status === 0) {
    return { prefix: namespace, identity: {} };
  }
  const identity = { uid: NOBODY, gid: NOBODY };
  const canRead = spawnSync(process.execPath, [MEX, '--version'], { ...identity, cwd: '/' }).status === 0;
  return canRead ? { prefix: [], identity } : undefined;
}

/**
 * Whether other accounts can run the code of this checkout. They can if they may enter this folder and all its parent
 * folders.
 */
export const reachable = othersMayEnter(import.meta.dirname);

function othersMayEnter(path: string): boolean {
  return (statSync(path).mode & 0o001) !== 0 && (path === '/' || othersMayEnter(dirname(path)));
}
