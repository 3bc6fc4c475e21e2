/**
 * Compares the performance of this checkout with that of another checkout, whose packages must be installed. Each round
 * measures both checkouts. Each checkout uses its own database on the same server, so the checkouts can have different
 * migrations.
 * Run: node bench/compare.ts --with ../before [--operations get,create] [--rounds 7] [--connections 64]
 */
import { parseArgs } from 'node:util';
import { processorMs, startExchange } from './lib/exchange.ts';
import { figure, ratio, show } from './lib/figures.ts';
import type { Generator } from './lib/generator.ts';
import { measuredOperations } from './lib/operations.ts';
import { type BenchServer, startServer } from './lib/postgres.ts';
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

const started = new AsyncDisposableStack();
try {
  const server = await startServer();
  started.defer(() => server.stop());
  const generator = await startWorker<Generator>('generator.ts');
  started.defer(() => generator.stop());
  const before = await startSide(server, options.with);
  const now = await startSide(server);
  const rows: Record<string, string>[] = [];
  for (const { name } of now.operations) {
    if (!options.operations.split(',').some((wanted) => name.startsWith(wanted))) continue;
    const perSecond = { before: [] as number[], now: [] as number[] };
    const processor = { before: [] as number[], now: [] as number[] };
    const database = { before: [] as number[], now: [] as number[] };
    for (let round = 0; round <= Number(options.rounds); round++) {
      progress(`${name}, round ${round} of ${options.rounds}`);
      for (const which of round % 2 === 0 ? (['before', 'now'] as const) : (['now', 'before'] as const)) {
        const { exchange, operations } = { before, now }[which];
        const { caller, template, items, consumes } = operations.find((each) => each.name === name)!;
        const fresh = await items(1_500);
        const spent = [processorMs(exchange.pid), server.processorMs()] as const;
        const timing = await generator.call('closed', {
          targets: [{ port: exchange.port, token: caller.token }],
          connections: Number(options.connections),
          template,
          items: fresh,
          ...(!consumes && { seconds: 1.5 }),
        });
        if (round === 0) continue;
        perSecond[which].push(timing.perSecond);
        processor[which].push((processorMs(exchange.pid) - spent[0]) / timing.responses);
        database[which].push((server.processorMs() - spent[1]) / timing.responses);
      }
    }
    const all = (which: 'before' | 'now') => processor[which].map((ms, i) => ms + database[which][i]!);
    for (const [what, sides] of Object.entries({
      'per second': perSecond,
      "exchange's processor ms": processor,
      "PostgreSQL's processor ms": database,
      'both together': { before: all('before'), now: all('now') },
    })) {
      rows.push({
        operation: name,
        figure: what,
        before: show(figure(sides.before)),
        now: show(figure(sides.now)),
        'now / before': show(ratio(sides.now, sides.before)),
      });
    }
  }
  progressEnd();
  printTable(`This checkout beside ${options.with}, ${options.connections} connections`, rows);
} finally {
  await started.disposeAsync();
}

async function startSide(server: BenchServer, checkout?: string) {
  const database = await server.createDatabase({ migrated: false });
  const exchange = await startExchange({ databaseUrl: database.url, ...(checkout && { checkout }) });
  started.defer(() => exchange.stop());
  const world = await createWorld(exchange, database);
  return { exchange, operations: await measuredOperations(world, database) };
}
