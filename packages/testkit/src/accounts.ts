/** Processes of other accounts than ours, which may be root. */
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Account, MEX } from './process.ts';

export const NOBODY = 65534;

/** An account that is not root, as production demands; none where root cannot become another that reads this folder. */
export function ordinaryAccount(): Account | undefined {
  if (process.geteuid!() !== 0) return { prefix: [], identity: {} };
  // In a user namespace we are somebody else who may read our files: the clone may be in root's own folder.
  const namespace = ['unshare', '--user', `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
  if (spawnSync(namespace[0]!, [...namespace.slice(1), 'true']).status === 0) {
    return { prefix: namespace, identity: {} };
  }
  const identity = { uid: NOBODY, gid: NOBODY };
  const canRead = spawnSync(process.execPath, [MEX, '--version'], { ...identity, cwd: '/' }).status === 0;
  return canRead ? { prefix: [], identity } : undefined;
}

/** Whether another account can run what is in this checkout: it may stand in a folder that only root may enter. */
export const reachable = othersMayEnter(import.meta.dirname);

function othersMayEnter(path: string): boolean {
  return (statSync(path).mode & 0o001) !== 0 && (path === '/' || othersMayEnter(dirname(path)));
}
