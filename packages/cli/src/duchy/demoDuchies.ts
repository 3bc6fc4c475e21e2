/** Runs the demo duchies of a development exchange. Their processes are restarted if they end. */
import type { Logger } from 'pino';
import { keepRunning } from '../terminal/keepRunning.ts';

interface DemoDuchies {
  /** The data directory of the exchange. */
  dataDir: string;
  /** The names of the duchies (`duchies/…`). */
  names: string[];
  log: Logger;
}

/** Starts a process for each duchy. Does not wait until the duchies are ready, because measurements wait for them. */
export function startDemoDuchies({ names, ...options }: DemoDuchies) {
  const programOf = (name: string) => ({
    args: ['duchy', 'run', '--as', name],
    logFile: `${name}/duchy.log`,
    what: 'a demo duchy',
    fields: { component: 'duchy', duchy: name },
  });
  return keepRunning(names.map(programOf), options);
}

/**
 * Starts one process for all duchies. One process loads and optimizes the code only once, so the duchies need only a
 * third of the processor time that separate processes would need.
 */
export function startDemoDuchiesTogether({ names, ...options }: DemoDuchies) {
  const program = {
    args: ['serve', 'duchies', ...names],
    logFile: 'duchies/duchy.log',
    what: 'the process of the demo duchies',
    fields: { component: 'duchy' },
  };
  return keepRunning([program], options);
}
