import { statSync } from 'node:fs';
import { dirname } from 'node:path';

/** Whether another account can run what is in this checkout: it may stand in a folder that only root may enter. */
export const reachable = othersMayEnter(import.meta.dirname);

function othersMayEnter(path: string): boolean {
  return (statSync(path).mode & 0o001) !== 0 && (path === '/' || othersMayEnter(dirname(path)));
}
