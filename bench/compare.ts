/**
 * What a change bought: this checkout beside another one with its packages installed, on one database, taking turns.
 * node bench/compare.ts --with ../before [--operations get,create] [--rounds 7] [--connections 64]
 */
import { parseArgs } from 'node:util';
import { processorMs, startExchange } from './lib/exchange.ts';
import { figure, ratio, show } from './lib/figures.ts';
import type { Generator } from './lib/generator.ts';
import { measuredOperations } from './lib/operations.ts';
import { startServer } from './lib/postgres.ts';
import { startWorker } from './lib/processes.ts';
import { printTable, progress, progressEnd } from './lib/report.ts';
import { createWorld } from './lib/world.ts';

const { values: options } = parseArgs({
  options: {
    with: { type: 'string' },
    operations: { type: 'string', default: 'get,list,batchGet,create,fulfill,refuse' },
    rounds: { type: 'string', default: '7' },
    connections: { type: 'string', default: '64' },
  },
});
if (options.with === undefined) throw new Error('--with: another checkout of this repository.');

const server = await startServer();
const generator = await startWorker<Generator>('generator.ts');
const database = await server.createDatabase();
const before = await startExchange({ databaseUrl: database.url, checkout: options.with });
const now = await startExchange({ databaseUrl: database.url, like: before.dataDir });
try {
  const world = await createWorld(before, database);
  const rows: Record<string, string>[] = [];
  for (const { name, caller, template, items, consumes } of await measuredOperations(world, database)) {
    if (!options.operations.split(',').some((wanted) => name.startsWith(wanted))) continue;
    const perSecond = { before: [] as number[], now: [] as number[] };
    const processor = { before: [] as number[], now: [] as number[] };
    for (let round = 0; round <= Number(options.rounds); round++) {
      progress(`${name}, round ${round} of ${options.rounds}`);
      for (const which of round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)) {
        const { dev, port, pid } = { before, now }[which];
        const parties = [...dev.measurementConsumers, ...dev.dataProviders];
        const token = parties.find((party) => party.name === caller.name)!.token;
        const fresh = await items(1_500);
        const spent = processorMs(pid);
        const timing = await generator.call('closed', {
          targets: [{ port, token }],
          connections: Number(options.connections),
          template,
          items: fresh,
          ...(!consumes && { seconds: 1.5 }),
        });
        if (round === 0) continue;
        perSecond[which].push(timing.perSecond);
        processor[which].push((processorMs(pid) - spent) / timing.responses);
      }
    }
    rows.push({
      operation: name,
      'before, per second': show(figure(perSecond.before)),
      now: show(figure(perSecond.now)),
      'now / before': show(ratio(perSecond.now, perSecond.before)),
      'processor ms before': show(figure(processor.before)),
      'processor ms now': show(figure(processor.now)),
      'processor now / before': show(ratio(processor.now, processor.before)),
    });
  }
  progressEnd();
  printTable(`This checkout beside ${options.with}, ${options.connections} connections`, rows);
} finally {
  await Promise.all([before.stop(), now.stop(), generator.stop()]);
  await server.stop();
}
