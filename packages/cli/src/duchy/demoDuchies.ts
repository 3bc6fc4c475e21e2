/** Runs the demo duchies of a development exchange. Each runs in its own process, which is restarted if it ends. */
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { keepRunning } from '../terminal/keepRunning.ts';

/**
 * Environment variables for duchies. With a single arena, glibc reuses memory across threads, which saves 60 MB in a worker
 * with 10,000,000 people.
 */
const ALLOCATOR = { MALLOC_ARENA_MAX: '1' };

/**
 * Starts the named duchies (`duchies/…`) for the exchange that uses this data directory. Returns before the duchies are
 * ready, and measurements wait for them. `stop` ends the processes.
 */
export function startDemoDuchies(options: { dataDir: string; names: string[]; log: Logger }) {
  const dataDir = resolve(options.dataDir);
  const programs = options.names.map((name) => ({
    args: ['duchy', 'run', '--as', name],
    dataDir,
    logFile: join(dataDir, 'duchies', name.split('/')[1]!, 'duchy.log'),
    env: ALLOCATOR,
    what: 'a demo duchy',
    fields: { component: 'duchy', duchy: name },
  }));
  return keepRunning(programs, options.log);
}
