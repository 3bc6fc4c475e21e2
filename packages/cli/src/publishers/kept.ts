/**
 * The publishers of a development exchange. One process runs the agents of all of them, because each process would load
 * Node and DuckDB again.
 */
import { join, resolve } from 'node:path';
import type { Logger } from 'pino';
import { readOwnDevFile } from '../files/devFile.ts';
import { keepRunning } from '../terminal/keepRunning.ts';
import { ADVERTISER, clientOf } from './client.ts';
import { ensureEventGroups } from './eventGroups.ts';

/** Describes the publishers' events to the advertiser, so that it can ask as soon as the exchange is ready. */
export async function describePublishers(names: string[]): Promise<void> {
  const dev = await readOwnDevFile();
  await Promise.all(names.map((name) => ensureEventGroups(clientOf(dev, name), name, ADVERTISER)));
}

/** Starts the agents, and returns before they are ready. Measurements wait until they are. */
export function startPublishers(options: { dataDir: string; names: string[]; log: Logger }) {
  const dataDir = resolve(options.dataDir);
  const program = {
    args: ['serve', 'publishers', ...options.names],
    dataDir,
    logFile: join(dataDir, 'publishers', 'agents.log'),
    what: 'the process of the demo publishers',
    fields: { component: 'publishers' },
  };
  return keepRunning([program], options.log);
}
