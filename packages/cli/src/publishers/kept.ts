/**
 * Starts the publishers of a development exchange. One process runs the agents of all publishers and uses 170 MB. Three
 * processes would use 460 MB, because each would load Node and DuckDB.
 */
import type { Logger } from 'pino';
import { readOwnDevFile } from '../files/devFile.ts';
import { keepRunning } from '../terminal/keepRunning.ts';
import { ADVERTISER, clientOf } from './client.ts';
import { ensureEventGroups } from './eventGroups.ts';

/**
 * Creates the publishers' event groups, so that the advertiser can create measurements as soon as the exchange is
 * ready.
 */
export async function describePublishers(names: string[]): Promise<void> {
  const dev = await readOwnDevFile();
  await Promise.all(names.map((name) => ensureEventGroups(clientOf(dev, name), name, ADVERTISER)));
}

/** Starts the agents, and returns before they are ready. Measurements wait until the agents are ready. */
export function startPublishers({ names, ...options }: { dataDir: string; names: string[]; log: Logger }) {
  const program = {
    args: ['serve', 'publishers', ...names],
    logFile: 'publishers/agents.log',
    what: 'the process of the demo publishers',
    fields: { component: 'publishers' },
  };
  return keepRunning([program], options);
}
