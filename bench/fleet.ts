/** Compares the throughput of two and of four exchange processes on one database with that of a single process. */
import { type BenchExchange, startExchange } from './lib/exchange.ts';
import { figure, ratio, show } from './lib/figures.ts';
import type { Timing } from './lib/generator.ts';
import { measuredOperations } from './lib/operations.ts';
import type { Bench } from './lib/options.ts';
import { printTable, progress, type Section } from './lib/report.ts';
import { createWorld } from './lib/world.ts';

const SIZES = [1, 2, 4];
const CONNECTIONS = 64;
const OPERATIONS = ['get', 'list page of 50', 'create, 3 providers', 'fulfillDirect'];

export async function fleet(bench: Bench): Promise<Section> {
  const database = await bench.server.createDatabase();
  const exchanges: BenchExchange[] = [];
  try {
    for (let i = 0; i < Math.max(...SIZES); i++) {
      const like = exchanges[0]?.dataDir;
      exchanges.push(await startExchange({ databaseUrl: database.url, ...(like && { like }) }));
    }
    const world = await createWorld(exchanges[0]!, database);
    const operations = (await measuredOperations(world, database)).filter(({ name }) =>
      OPERATIONS.includes(name),
    );
    const measured: { operation: string; timings: Record<number, Timing[]> }[] = [];
    for (const { name, caller, template, items, consumes } of operations) {
      const timings: Record<number, Timing[]> = Object.fromEntries(SIZES.map((size) => [size, []]));
      await bench.server.query('CHECKPOINT');
      for (let round = 0; round <= bench.rounds; round++) {
        progress(`fleet: ${name}, round ${round} of ${bench.rounds}`);
        for (let i = 0; i < SIZES.length; i++) {
          const size = SIZES[(i + round) % SIZES.length]!;
          const targets = exchanges.slice(0, size).map((exchange) => ({
            port: exchange.port,
            // Use a token from the target's own exchange, because each development exchange issues its own tokens.
            token: tokenOf(exchange, caller.name),
          }));
          const timing = await bench.generator.call('closed', {
            targets,
            connections: CONNECTIONS,
            template,
            items: await items(bench.quick ? 300 : 2_000),
            ...(!consumes && { seconds: bench.quick ? 0.4 : 1.5 }),
          });
          if (Object.keys(timing.rejected).length > 0) {
            throw new Error(`${name} on ${size}: rejected ${JSON.stringify(timing.rejected)}`);
          }
          if (round > 0) timings[size]!.push(timing);
        }
      }
      measured.push({ operation: name, timings });
    }
    const rates = (timings: Timing[]) => timings.map((timing) => timing.perSecond);
    printTable(
      `Exchanges on one database (requests per second, ${CONNECTIONS} connections in all)`,
      measured.map(({ operation, timings }) => ({
        operation,
        ...Object.fromEntries(SIZES.map((size) => [`${size} of them`, show(figure(rates(timings[size]!)))])),
        '2 / 1': show(ratio(rates(timings[2]!), rates(timings[1]!))),
        '4 / 1': show(ratio(rates(timings[4]!), rates(timings[1]!))),
        'p99 with 4, ms': show(figure(timings[4]!.map((timing) => timing.p99))),
      })),
    );
    return { name: 'fleet', data: measured, verdicts: [] };
  } finally {
    await Promise.all(exchanges.map((exchange) => exchange.stop()));
    await database.drop();
  }
}

function tokenOf({ dev }: BenchExchange, name: string): string {
  return [...dev.measurementConsumers, ...dev.dataProviders].find((party) => party.name === name)!.token;
}
