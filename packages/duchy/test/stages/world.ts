/** Runs duchies in this process, each on its own database, with an exchange that has multi-party protocols enabled. */

import { createSigner } from '@measurement-exchange/consent';
import type { DuchyRole, Measurement, MpcNoiseMechanism, VidRange } from '@measurement-exchange/contract';
import { createDevIssuer, devKeyFile } from '@measurement-exchange/exchange/devIssuer';
import {
  createClient,
  createConsumer,
  type MeasurementRequest,
  Unreachable,
} from '@measurement-exchange/sdk';
import { issueLeaf } from '@measurement-exchange/sdk/identity';
import { type Listening, listenAt, Waker } from '@measurement-exchange/server';
import { createDuchyDatabase, type DuchyDatabase } from '@measurement-exchange/testkit/duchy';
import { UNLIMITED } from '@measurement-exchange/testkit/exchange';
import { events, type Party, partyOf, startWorld, type World } from '@measurement-exchange/testkit/world';
import { pino } from 'pino';
import type { Duchy } from '../../src/computations/context.ts';
import { createFace } from '../../src/face/server.ts';
import { Herald } from '../../src/herald/herald.ts';
import { Mill } from '../../src/mills/mill.ts';
import { Metrics } from '../../src/observability/metrics.ts';
import { mapClient } from './mapClient.ts';

const NAMES = {
  FIRST_WORKER: 'duchies/alpha',
  SECOND_WORKER: 'duchies/beta',
  AGGREGATOR: 'duchies/gamma',
} satisfies Partial<Record<DuchyRole, string>>;
const CAPABILITIES = {
  honestMajorityShareShuffleSupported: true,
  reachOnlyLiquidLegionsV2Supported: true,
  liquidLegionsV2Supported: true,
};
/** VIDs 1 to 600 and 1001 to 1400. */
export const VID_RANGES: VidRange[] = [
  { start: 1001, end: 1400 },
  { start: 1, end: 600 },
];
/** The lease is so long that no lease expires during a test. Tests that need an expired lease change the database. */
const LEASE_MS = 60_000;
export const MILL = { owner: 'test', leaseMs: LEASE_MS, pollMs: 20, retryMs: 10 };
const LIMITS = {
  uploads: 100,
  uploadsPerParty: 100,
  uploadSeconds: 30,
  maxDataBytes: 2 ** 30,
  rejectedPerMinute: 1e6,
};

export interface TestDuchy {
  /** The duchy's role in the share shuffle protocol. A fourth duchy has no role in it. */
  role: DuchyRole | undefined;
  duchy: Duchy;
  herald: Herald;
  mill: Mill;
  /** Runs a query directly in the duchy's database. */
  query: DuchyDatabase['query'];
  /** Makes the duchy's calls of this operation to the exchange fail. `undefined` ends this. */
  failOn(operation: string | undefined): void;
  /** Stops the duchy's HTTP server. Requests to the duchy fail until `up` is called. */
  down(): Promise<void>;
  up(): Promise<void>;
  stop(): Promise<void>;
}

export interface DuchyWorld extends World {
  providers: Party[];
  duchies: TestDuchy[];
  of(role: DuchyRole): TestDuchy;
  named(name: string): TestDuchy;
  /** Creates a measurement of all providers. */
  ask(changes?: Partial<MeasurementRequest>): Promise<Measurement>;
  /** Lets every duchy look for changes and then do the work that is due. */
  turn(): Promise<void>;
  /** Runs turns until the measurement has ended. */
  finish(measurement: Measurement): Promise<Measurement>;
  /** Stops everything and returns the findings of the doctor. */
  stop(): Promise<string[]>;
}

export interface DuchyWorldOptions {
  noiseMechanism?: MpcNoiseMechanism;
  /** The enabled protocols. Default: only the share shuffle protocol. */
  protocols?: NonNullable<Parameters<typeof startWorld>[0]>['protocols'];
  /** The names of the duchies. Default: the three duchies of the share shuffle protocol. */
  names?: readonly string[];
  /**
   * Returns the address to call instead of `url`, which is the address of the party `to`. `from` is the calling duchy,
   * or undefined if any party may call.
   */
  between?: (url: string, to: string, from?: string) => Promise<string>;
}

export async function startDuchyWorld({
  noiseMechanism = 'NONE',
  protocols = {
    honestMajorityShareShuffle: {
      firstWorker: NAMES.FIRST_WORKER,
      secondWorker: NAMES.SECOND_WORKER,
      aggregator: NAMES.AGGREGATOR,
      noiseMechanism,
      reachRingModulus: 127,
      reachAndFrequencyRingModulus: 127,
    },
  },
  names = Object.values(NAMES),
  between = async (url) => url,
}: DuchyWorldOptions = {}): Promise<DuchyWorld> {
  const world = await startWorld({ protocols, rate: UNLIMITED }, async ({ query }) => {
    for (const name of names) {
      // Store a placeholder. The real endpoint is set when the duchy's HTTP server listens.
      await query(
        `INSERT INTO parties (name, state, endpoint, create_time, update_time)
         VALUES ($1, 'ACTIVE', 'http://127.0.0.1:1', now(), now())`,
        [name],
      );
    }
  });
  const { exchange, trust } = world;
  const called = { ...exchange, url: await between(exchange.url, 'exchange') };
  const acme = partyOf(called, exchange.dev.measurementConsumers[0]!);
  const providers = exchange.dev.dataProviders.map((party) => partyOf(called, party));
  const consumer = createConsumer({
    client: acme.client,
    credentials: acme,
    trust,
    duchies: [...names],
  });
  const operator = createClient({ baseUrl: exchange.url, token: exchange.dev.operator.token });
  await operator.createPopulation({ body: { vidRanges: VID_RANGES, default: true } });
  for (const { client, name } of providers) {
    await client.updateParty({ name, body: { capabilities: CAPABILITIES } });
  }
  const duchies: TestDuchy[] = [];
  for (const name of names) duchies.push(await startDuchy(world, name, between));

  async function turn() {
    for (const { herald, mill } of duchies) {
      await herald.once();
      while (await mill.once());
    }
  }
  return {
    ...world,
    acme,
    consumer,
    providers,
    duchies,
    of: (role) => duchies.find((duchy) => duchy.role === role)!,
    named: (name) => duchies.find(({ duchy }) => duchy.name === name)!,
    ask: (changes) =>
      consumer.create({
        type: 'reach',
        privacy: { epsilon: 1, delta: 1e-9 },
        dataProviders: events(...providers),
        ...changes,
      }),
    turn,
    async finish({ name }) {
      for (let turns = 0; turns < 100; turns++) {
        await turn();
        const measurement = await acme.client.getMeasurement({ name: name! });
        if (['SUCCEEDED', 'FAILED', 'CANCELLED'].includes(measurement.state)) {
          // Run one more turn, so that every duchy sees the final state at the exchange.
          await turn();
          return measurement;
        }
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
      throw new Error(`${name} does not end`);
    },
    async stop() {
      await Promise.all(duchies.map((duchy) => duchy.stop()));
      return exchange.stop();
    },
  };
}

/** Starts an HTTP server for a duchy. If `port` is 0, the operating system chooses a free port. */
export function startFace(duchy: Duchy, port = 0) {
  return listenAt({ host: '127.0.0.1', port, tls: undefined }, (tls) =>
    createFace({ duchy, limits: LIMITS, tls, trustedProxies: [] }),
  );
}

async function startDuchy(
  { exchange, root, trust }: World,
  name: string,
  between: NonNullable<DuchyWorldOptions['between']>,
): Promise<TestDuchy> {
  const issuer = await createDevIssuer({ keyFile: devKeyFile(exchange.dataDir), baseUrl: exchange.url });
  let failing: string | undefined;
  const baseUrl = await between(exchange.url, 'exchange', name);
  const reachable = createClient({ baseUrl, token: await issuer.mint(name) });
  const client = mapClient(reachable, (call, operation) => (args) => {
    if (operation !== failing) return call(args);
    return Promise.reject(new Unreachable('The exchange does not respond.'));
  });
  const { der, privateKeyPem } = await issueLeaf(root, name, Date.now(), { party: name });
  const certificate = await client.createCertificate({ parent: name, body: { x509Der: der } });

  const { db, query, drop } = await createDuchyDatabase();
  const metrics = new Metrics();
  metrics.watchDatabase(db);
  const duchy: Duchy = {
    name,
    certificate: certificate.name!,
    signer: await createSigner(privateKeyPem),
    client,
    db,
    mills: new Waker(),
    trust,
    noiseMechanisms: ['NONE', 'GEOMETRIC', 'DISCRETE_GAUSSIAN'],
    fetch,
    log: pino({ level: process.env.DUCHY_LOG ?? 'silent' }),
    metrics,
  };
  let face: Listening | undefined;
  let port = 0;
  const up = async () => {
    face = await startFace(duchy, port);
    port = Number(new URL(face.url).port);
  };
  await up();
  await client.updateParty({ name, body: { endpoint: await between(face!.url, name) } });
  const role = (Object.keys(NAMES) as (keyof typeof NAMES)[]).find((key) => NAMES[key] === name);
  return {
    role,
    duchy,
    herald: new Herald(duchy),
    mill: new Mill(duchy, MILL),
    query,
    failOn(operation) {
      failing = operation;
    },
    up,
    async down() {
      await face?.stop();
      face = undefined;
    },
    async stop() {
      await face?.stop();
      await drop();
    },
  };
}
