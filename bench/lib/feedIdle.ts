/** Measures the memory that idle watchers hold in the exchange, after garbage collection. */
import { setTimeout as sleep } from 'node:timers/promises';
import { collectedBytes } from './collected.ts';
import { startExchange } from './exchange.ts';
import { digits, figure, show } from './figures.ts';
import type { Bench } from './options.ts';
import { startWorker } from './processes.ts';
import { atMost, printTable, progress, type Section } from './report.ts';
import type { Watchers } from './watchers.ts';

const WATCHERS = 2_000;
/**
 * The number of watchers that connect and disconnect several times before the measurement, so that compiled code and
 * pooled memory already exist.
 */
const WARM_UP = 200;
const WARM_UP_TIMES = 5;
/**
 * The time between opening the watchers and reading the memory. It is long enough for every watcher to receive a
 * keep-alive comment.
 */
const IDLE_MS = 20_000;

export async function feedIdle(bench: Bench): Promise<Omit<Section, 'name'>> {
  const kilobytes: number[] = [];
  for (let round = 1; round <= bench.rounds; round++) {
    const database = await bench.server.createDatabase();
    const exchange = await startExchange({ databaseUrl: database.url, flags: ['--inspect=0'] });
    const watchers = await startWorker<Watchers>('watchers.ts');
    try {
      const { measurementConsumers, dataProviders, duchies } = exchange.dev;
      const parties = [...measurementConsumers, ...dataProviders, ...duchies];
      const watch = (count: number) =>
        watchers.call(
          'watch',
          parties.map(({ name, token }, i) => ({
            port: exchange.port,
            path: `/v2alpha/${name}/changes:watch`,
            token,
            count: Math.floor((count + i) / parties.length),
          })),
        );
      progress(`feed: ${WATCHERS} idle watchers, round ${round} of ${bench.rounds}`);
      for (let times = 0; times < WARM_UP_TIMES; times++) {
        await watchers.call('close', undefined);
        await watch(WARM_UP);
      }
      await sleep(bench.quick ? 1_000 : IDLE_MS);
      const before = await collectedBytes(exchange.pid, exchange.inspectorUrl!);
      await watch(WATCHERS);
      await sleep(bench.quick ? 1_000 : IDLE_MS);
      const after = await collectedBytes(exchange.pid, exchange.inspectorUrl!);
      kilobytes.push((after - before) / WATCHERS / 1000);
    } finally {
      await watchers.stop();
      await exchange.stop();
      await database.drop();
    }
  }
  const each = figure(kilobytes);
  printTable('Idle watchers', [{ watchers: digits(WATCHERS), 'resident KB each': show(each) }]);
  return { data: { kilobytes }, verdicts: [atMost(`KB of an idle watcher, of ${WATCHERS}`, each, 20)] };
}
