/**
 * Sends false replies to a consumer and to a provider's agent, thousands of them in stress runs. The consumer must open
 * only true results, and must encrypt only for the parties it asked. The agent must answer only requests that a
 * consumer signed. Every call must end. Set MEX_FUZZ_SEED to repeat a run.
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decrypt, unpackSignedMessage } from '@measurement-exchange/consent';
import { fromBase64 } from '@measurement-exchange/contract';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseResult } from '../../src/consumer/result.ts';
import {
  type Consumer,
  createConsumer,
  createTrustStore,
  findResultKeyset,
  type MeasurementRequest,
} from '../../src/index.ts';
import { createAgent, openLedger, openPopulation } from '../../src/provider/index.ts';
import {
  ACME,
  ALPHA,
  BETA,
  CHIRPER,
  GAMMA,
  GLOBEX,
  idleClock,
  type Json,
  type LyingExchange,
  reach,
  SHARE_SHUFFLE,
  STREAMLY,
  shuffledReach,
  startLyingExchange,
} from './lyingExchange.ts';
import { type Draw, drawFrom, spoil } from './mutations.ts';

const RUNS = rounds(5000, 30);
const SEED = Number(process.env.MEX_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 32));
/** The names of errors that explain the problem. Any other error, such as a TypeError, is a crash. */
const EXPECTED = [
  'DataProviderUntrusted',
  'ExchangeError',
  'MeasurementFailed',
  'ProtocolRejected',
  'ResultRejected',
  'UnexpectedResponse',
  'Unreachable',
  'WaitTimedOut',
];
const POPULATION = 40n;
const DUCHIES = [ALPHA, BETA, GAMMA];
const INTERVAL = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };

let x: LyingExchange;
let directory: string;
let ledgers = 0;
/** The true figures of each measurement, as its data providers or the duchies computed them. */
const truth = new Map<string, { request: MeasurementRequest; figures: Record<string, number> }>();

const asking = (filter: string, ...providers: string[]): MeasurementRequest => ({
  type: 'reach',
  privacy: { epsilon: 0.5, delta: 1e-9 },
  referenceId: filter,
  dataProviders: providers.map((name) => ({
    name,
    eventGroups: [{ name: `${name}/eventGroups/tv`, interval: INTERVAL, filter }],
  })),
});
const counting: MeasurementRequest = {
  type: 'population',
  dataProviders: [{ name: STREAMLY, population: {} }],
};

const consumerOf = (name: string, client = x.client({ maxResponseBytes: 1_000_000 })): Consumer =>
  createConsumer({
    client,
    credentials: x.of(name),
    trust: trustOf(x),
    duchies: DUCHIES,
    clock: idleClock(),
  });
const trustOf = ({ parties }: LyingExchange) =>
  createTrustStore(
    [...parties].map(([party, { identity }]) => ({ party, pem: identity.root.certificatePem })),
  );

async function answer(measurement: string, request: MeasurementRequest, value: number): Promise<void> {
  const figures = Object.fromEntries(request.dataProviders.map(({ name }, i) => [name, value + i]));
  truth.set(measurement, { request, figures });
  for (const [provider, figure] of Object.entries(figures)) {
    await x.fulfill(measurement, provider, reach(BigInt(figure)));
  }
}

afterAll(() => rm(directory, { recursive: true }));
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'mex-lies-'));
  x = await startLyingExchange();
  const requests = [asking('a', STREAMLY, CHIRPER), asking('b', STREAMLY, CHIRPER), asking('c', STREAMLY)];
  for (const [i, request] of requests.entries()) {
    await answer((await consumerOf(ACME).create(request)).name!, request, 100 * (i + 1));
  }
  const direct = x.protocolConfig;
  x.protocolConfig = SHARE_SHUFFLE;
  for (const [i, filter] of ['d', 'e'].entries()) {
    const request = asking(filter, STREAMLY, CHIRPER);
    const { name } = await consumerOf(ACME).create(request);
    await x.setResult(name!, GAMMA, shuffledReach(BigInt(5000 + i)));
    truth.set(name!, { request, figures: { deduplicated: 5000 + i, deviation: 18.61 } });
  }
  x.protocolConfig = direct;
  // Create requisitions of two consumers, and leave them open for the agent to answer.
  for (const name of [ACME, ACME, GLOBEX]) await consumerOf(name).create(counting);
});

const figuresOf = ({ dataProviders, total }: Awaited<ReturnType<Consumer['open']>>) => {
  const reach = total.deduplicated?.reach;
  if (reach === undefined)
    return Object.fromEntries(dataProviders.map((each) => [each.name, each.reach?.value]));
  return { deduplicated: reach.value, deviation: Number(reach.standardDeviation.toFixed(2)) };
};

/** Checks that each requisition spec was encrypted for the data provider under whose name it was sent. */
async function requireForAskedOnly(sent: Json): Promise<void> {
  for (const [name, entry] of Object.entries<Json>(sent.dataProviders)) {
    await decrypt(x.of(name).encryptionPrivateKey, fromBase64(entry.encryptedRequisitionSpec.ciphertext)!);
  }
}

/** Checks that the agent's result is for a measurement of a consumer, and that it contains the true population. */
async function requireSigned(sent: Json): Promise<void> {
  const { signed } = await firstOf([ACME, GLOBEX], async (consumer) => {
    const measurements = [...x.resources.values()].filter(({ name }) =>
      name.startsWith(`${consumer}/measurements/`),
    );
    return firstOf(measurements, async ({ name }) => {
      const measurement = await honestly(() => x.client().getMeasurement({ name }));
      const keyset = await findResultKeyset(x.of(consumer), measurement);
      const plaintext = await decrypt(keyset!, fromBase64(sent.encryptedResult.ciphertext)!);
      return { signed: unpackSignedMessage(plaintext) };
    });
  });
  expect(parseResult(signed.message).population!.value).toBe(POPULATION);
}

async function firstOf<T, R>(items: T[], attempt: (item: T) => Promise<R>): Promise<R> {
  for (const item of items) {
    const result = await attempt(item).catch(() => undefined);
    if (result !== undefined) return result;
  }
  throw new Error('nobody asked for this result');
}

async function honestly<T>(run: () => Promise<T>): Promise<T> {
  x.tell(({ reply }) => reply);
  return run();
}

type Scenario = (draw: Draw) => Promise<void>;
const askAgent: Scenario = async () => {
  for (const resource of x.resources.values()) {
    if (resource.state === 'FULFILLED' || resource.state === 'REFUSED') resource.state = 'UNFULFILLED';
  }
  const ledger = openLedger(join(directory, `${++ledgers}.sqlite`), { epsilon: 1, delta: 0, rho: 1 });
  try {
    await createAgent({
      client: x.client({ maxResponseBytes: 1_000_000 }),
      credentials: x.of(STREAMLY),
      trust: trustOf(x),
      references: {},
      ledger,
      clock: idleClock(),
      population: openPopulation({
        subpopulations: [{ vidRanges: [{ start: 1, end: Number(POPULATION) }], attributes: {} }],
      }),
    }).once();
  } finally {
    ledger.close();
  }
};
const SCENARIOS: Scenario[] = [
  async (draw) => {
    const request = asking(`age == ${draw(1000)}`, STREAMLY, CHIRPER);
    const { name, measurementSpec } = await consumerOf(ACME).create(request);
    expect(name).toMatch(/^measurementConsumers\/acme\/measurements\//);
    const { sent } = x.log.findLast(({ method }) => method === 'POST')!;
    expect(Buffer.from(measurementSpec!.message).toString('base64')).toBe(sent.measurementSpec.message);
  },
  async (draw) => {
    const names = [...truth.keys()];
    const name = names[draw(names.length)]!;
    const consumer = consumerOf(ACME);
    const { request, figures } = truth.get(name)!;
    const result = await consumer.open(await consumer.wait(name, { timeoutMs: 5000 }), { request });
    expect(figuresOf(result)).toEqual(figures);
  },
  async (draw) => {
    const names = [...truth.keys()];
    const consumer = consumerOf(ACME);
    const measurement = await consumer.wait(names[draw(names.length)]!, {
      timeoutMs: 5000,
      onChange: () => {},
    });
    const result = await consumer.open(measurement);
    // `open` did not get the request here, so the exchange may have substituted another measurement of the same
    // consumer. The reference ID identifies the measurement that was opened.
    const opened = [...truth.values()].find(({ request }) => request.referenceId === result.referenceId);
    expect(figuresOf(result)).toEqual(opened!.figures);
  },
  async () => {
    await Array.fromAsync(consumerOf(ACME).listEventGroups());
  },
  askAgent,
];

it(`${RUNS} false replies cause no false result, no wrong encryption, and no answer to an unsigned request`, {
  timeout: 60_000 + RUNS * 200,
}, async () => {
  console.log(`lying exchange: MEX_FUZZ_SEED=${SEED}`);
  const earlier = x.log.slice();
  const outcomes = new Map<string, number>();
  let longest = 0;
  let lies = 0;
  let toAgent = 0;
  for (let run = 0; lies < RUNS; run++) {
    const draw = drawFrom(SEED + run);
    const scenario = SCENARIOS[run % SCENARIOS.length]!;
    const before = x.log.length;
    const states = structuredClone([...x.resources]);
    // On average, make one of every `often` replies false. `often` varies between runs, so that the first false reply
    // comes at different calls.
    const often = 1 + draw(4);
    x.tell((exchanged) => {
      if (draw(often) > 0) return exchanged.reply;
      lies++;
      if (scenario === askAgent) toAgent++;
      return spoil(exchanged, earlier, draw);
    });
    const started = performance.now();
    const outcome = await scenario(draw).then(
      () => 'true',
      (error: Error) => {
        if (EXPECTED.includes(error.name)) return error.name;
        throw new Error(`MEX_FUZZ_SEED=${SEED}, run ${run}`, { cause: error });
      },
    );
    longest = Math.max(longest, performance.now() - started);
    outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
    for (const { method, path, sent } of x.log.slice(before)) {
      if (method === 'POST' && path.endsWith('/measurements')) await requireForAskedOnly(sent);
      if (path.endsWith(':fulfillDirect')) await requireSigned(sent);
    }
    x.resources.clear();
    for (const [name, resource] of states) x.resources.set(name, resource);
    x.log.length = before;
  }
  const megabytes = Math.round(process.memoryUsage().rss / 2 ** 20);
  console.log(
    `${lies} lies (${toAgent} to the agent), longest ${Math.round(longest)} ms, ${megabytes} MB`,
    Object.fromEntries(outcomes),
  );
  expect(outcomes.size).toBeGreaterThan(1);
});
