/**
 * Measures how much one loud caller slows down polite callers. The loud caller sends fifty times its fair share of
 * requests.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import { issueLeaf, type Root } from '@measurement-exchange/sdk/identity';
import { type BenchExchange, type DevParty, startExchange } from './lib/exchange.ts';
import { figure, ratio, show } from './lib/figures.ts';
import type { Caller, Generator, Timing } from './lib/generator.ts';
import type { Bench } from './lib/options.ts';
import type { BenchDatabase } from './lib/postgres.ts';
import { startWorker } from './lib/processes.ts';
import { atMost, printTable, progress, type Section } from './lib/report.ts';
import { copyId, copyMeasurement, createWorld, sealRequest, type World } from './lib/world.ts';

const POLITE = 20;
/** The fair share of one caller in requests per second. Polite callers stay a little below it. */
const SHARE = 10;
const POLITE_RATE = 8;
const TIMES = 50;
const OWN_MEASUREMENTS = 60;

/**
 * The rate limits that are compared: the fair share, and the default limit, which equals the rate of the loud caller.
 */
const LIMITS = {
  'limit: the share': { perSecond: SHARE, burst: 2 * SHARE },
  'limit: the default, 500/s': { perSecond: 500, burst: 1_000 },
};

export async function fairness(bench: Bench): Promise<Section> {
  const abuserGenerator = await startWorker<Generator>('generator.ts');
  const database = await bench.server.createDatabase();
  const measured: { limit: string; alone: Timing[]; beside: Timing[]; abuser: Timing[] }[] = [];
  try {
    const first = await startExchange({ databaseUrl: database.url });
    const world = await createWorld(first, database);
    const parties = await createConsumers(first, database, world);
    for (const [limit, rate] of Object.entries(LIMITS)) {
      // Start the measured exchange with the rate limit. The setup above ran without one.
      const exchange = await startExchange({
        databaseUrl: database.url,
        config: { rate },
        like: first.dataDir,
      });
      const mint = await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url });
      const [abuser, ...polite] = await Promise.all(
        parties.map(
          async ({ name, createBody }, i): Promise<Caller> => ({
            target: { port: exchange.port, token: await mint.mint(name) },
            perSecond: i === 0 ? SHARE * TIMES : POLITE_RATE,
            requests: requestsOf(name, createBody, i),
          }),
        ),
      );
      const result = { limit, alone: [] as Timing[], beside: [] as Timing[], abuser: [] as Timing[] };
      // Only a few requests determine a p99, so it needs more rounds than a median.
      const rounds = 2 * bench.rounds;
      for (let round = 0; round <= rounds; round++) {
        progress(`fairness: ${limit}, round ${round} of ${rounds}`);
        const seconds = bench.quick ? 2 : round === 0 ? 20 : 8;
        const quiet = { callers: polite, seconds, connections: 8 };
        const loud = { callers: [abuser!], seconds, connections: 64 };
        const alone = async () => {
          const timing = await bench.generator.call('open', quiet);
          if (round > 0) result.alone.push(timing);
        };
        const beside = async () => {
          const timings = await Promise.all([
            bench.generator.call('open', quiet),
            abuserGenerator.call('open', loud),
          ]);
          if (round > 0) {
            result.beside.push(timings[0]);
            result.abuser.push(timings[1]);
          }
        };
        for (const step of round % 2 === 0 ? [alone, beside] : [beside, alone]) await step();
      }
      measured.push(result);
      await exchange.stop();
    }
    await first.stop();
  } finally {
    await abuserGenerator.stop();
    await database.drop();
  }
  const p99 = (timings: Timing[]) => timings.map((timing) => timing.p99);
  printTable(
    `${POLITE} polite callers at ${POLITE_RATE} requests a second each (8 reads, a page, a create), one at ${SHARE * TIMES}`,
    measured.map(({ limit, alone, beside, abuser }) => ({
      limit,
      'polite p50 alone, ms': show(figure(alone.map((timing) => timing.p50))),
      'p50 beside': show(figure(beside.map((timing) => timing.p50))),
      'p99 alone': show(figure(p99(alone))),
      'p99 beside': show(figure(p99(beside))),
      'p99 beside / alone': show(ratio(p99(beside), p99(alone))),
      'of the loud one, refused': `${abuser.at(-1)!.rejected[429] ?? 0} of ${abuser.at(-1)!.responses}`,
    })),
  );
  return {
    name: 'fairness',
    data: measured,
    verdicts: measured.map(({ limit, alone, beside }) =>
      atMost(
        `polite p99 beside the loud caller, of that without; ${limit}`,
        ratio(p99(beside), p99(alone)),
        2,
      ),
    ),
  };
}

/**
 * Creates the consumers, the loud caller first. Each consumer has its own certificate and its own measurements to read.
 */
async function createConsumers(exchange: BenchExchange, database: BenchDatabase, world: World) {
  const { dev, dataDir, url } = exchange;
  const root: Root = JSON.parse(readFileSync(join(dataDir, 'dev-root.json'), 'utf8'));
  const issuer = await createDevIssuer({ keyFile: devKeyFile(dataDir), baseUrl: url });
  const parties: { name: string; createBody: string }[] = [];
  for (let i = 0; i <= POLITE; i++) {
    const id = `caller-${i}`;
    const name = `measurementConsumers/${id}`;
    await exchange.call(dev.operator.token, 'POST', `measurementConsumers?measurementConsumerId=${id}`, {
      displayName: id,
    });
    const token = await issuer.mint(name);
    const { der, privateKeyPem } = await issueLeaf(root, id, Date.now());
    const { name: certificate } = (await exchange.call(token, 'POST', `${name}/certificates`, {
      x509Der: Buffer.from(der).toString('base64'),
    })) as { name: string };
    const party: DevParty = { ...world.consumer, name, token, certificate, privateKeyPem };
    await copyMeasurement(database, world.open, { prefix: id, count: OWN_MEASUREMENTS, consumer: name });
    parties.push({ name, createBody: await sealRequest(exchange, party, world.providers) });
  }
  await database.query('VACUUM ANALYZE');
  return parties;
}

/**
 * Returns a cycle of ten requests: eight read one measurement, one reads a page, and one creates a measurement. `first`
 * shifts the cycle, so that the callers do not all send the same kind of request at the same time.
 */
function requestsOf(name: string, createBody: string, first: number): Caller['requests'] {
  const path = `/v2alpha/${name}/measurements`;
  return Array.from({ length: 10 }, (_, nth) => {
    const i = (first + nth) % 10;
    if (i === 4) return { template: { method: 'GET', path: `${path}?pageSize=50` }, item: [] };
    if (i === 9) return { template: { method: 'POST', path, body: createBody }, item: [] };
    const id = copyId(name.split('/')[1]!, i);
    return { template: { method: 'GET', path: `${path}/${id}` }, item: [] };
  });
}
