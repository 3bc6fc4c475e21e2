/**
 * Tests the agents of two providers with a real exchange and fake duchies. The decrypted uploads must show which people
 * the two providers reached, and for share shuffle also how often. Also tests an agent that is killed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Measurement, type Protocol, ringOf, toBase64 } from '@measurement-exchange/contract';
import { ReachSketch } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/provider';
import {
  Ciphertexts,
  Curve,
  mapToCurve,
  NOBODY_INDEX,
  POINT_BYTES,
} from '@measurement-exchange/mpc/sketches';
import { computationOf, type FakeDuchies, startFakeDuchies } from '@measurement-exchange/testkit/fakeDuchies';
import { openUpload, type ReceivedUpload } from '@measurement-exchange/testkit/fakeDuchy';
import { RING, RING_WITH_FREQUENCIES } from '@measurement-exchange/testkit/ring';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { addDuchies, SHARE_SHUFFLE } from '@measurement-exchange/testkit/shareShuffle';
import { type Party, startWorld, type World } from '@measurement-exchange/testkit/world';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Consumer, createConsumer, createTrustStore } from '../../src/index.ts';
import {
  type AgentEvent,
  createAgent,
  type Events,
  type Ledger,
  openEvents,
  openLedger,
} from '../../src/provider/index.ts';
import { bundleAgent } from './agentBundle.ts';
import type { AgentJob } from './agentProcess.ts';

const PEOPLE = 200;
const BUDGET = { epsilon: 1e5, delta: 1, rho: 1e3 };
const INTERVAL = { start: '2026-07-01T00:00:00Z', end: '2026-07-02T00:00:00Z' };
const MAXIMUM = 5;
/** For each provider, a function that returns how often the provider reached a person. */
const REACHED: Record<string, (vid: number) => number> = {
  streamly: (vid) => (vid <= 100 ? vid % 9 : 0),
  chirper: (vid) => (vid > 50 && vid <= 150 ? 1 : 0),
};

let world: World;
let directory: string;
let duchies: FakeDuchies;
let consumer: Consumer;
let script: string;

interface Provider {
  party: Party;
  events: Events;
  file: string;
  eventGroup: string;
  x509Der: Uint8Array;
}
const providers: Record<string, Provider> = {};

beforeAll(async () => {
  const size = { decayRate: 3, maxSize: 100 };
  const protocols = {
    honestMajorityShareShuffle: SHARE_SHUFFLE,
    reachOnlyLiquidLegionsV2: { ...RING, ...size },
    liquidLegionsV2: { ...RING_WITH_FREQUENCIES, ...size },
  };
  world = await startWorld({ protocols }, addDuchies);
  directory = await mkdtemp(join(tmpdir(), 'mex-computations-'));
  script = await bundleAgent(directory);
  duchies = await startFakeDuchies(world.exchange, PEOPLE);
  consumer = createConsumer({
    client: world.acme.client,
    credentials: world.acme,
    trust: createTrustStore([{ pem: world.root.certificatePem }, ...duchies.roots]),
    duchies: duchies.names,
  });
  for (const [id, party] of Object.entries({ streamly: world.streamly, chirper: world.chirper })) {
    const rows = Array.from({ length: PEOPLE }, (_, i) => i + 1).flatMap((vid) =>
      Array.from({ length: REACHED[id]!(vid) }, () => `${vid},2026-07-01 12:00:00,spring`),
    );
    const file = join(directory, `${id}.csv`);
    await writeFile(file, `vid,timestamp,event_group\n${rows.join('\n')}\n`);
    const created = await party.client.createEventGroup({
      parent: party.name,
      body: { measurementConsumer: world.acme.name, eventGroupReferenceId: 'spring' },
    });
    const events = await openEvents({ files: file, threads: 1 });
    const { x509Der } = await party.client.getCertificate({ name: party.certificate });
    providers[id] = { party, events, file, eventGroup: created.name!, x509Der };
  }
});
afterAll(async () => {
  for (const { events } of Object.values(providers)) await events.close();
  await duchies.close();
  await rm(directory, { recursive: true });
  expect(await world.exchange.stop()).toEqual([]);
});

/** Decrypts the frequencies in an upload with the keys of both workers. */
function opened(upload: ReceivedUpload) {
  const [, id] = /dataProviders\/(\w+)\//.exec(upload.path)!;
  const [first, second] = duchies.all;
  const [worker, peer] = first!.uploads.includes(upload) ? [first!, second!] : [second!, first!];
  return openUpload(upload, {
    provider: providers[id!]!.x509Der,
    worker: worker.keys.privateKeyset,
    peer: peer.keys.privateKeyset,
  });
}

function agentOf(id: string, ledger: Ledger, log: AgentEvent[] = []) {
  const { party, events } = providers[id]!;
  return createAgent({
    client: party.client,
    credentials: party,
    trust: world.trust,
    events,
    ledger,
    references: { spring: { measurementConsumers: [world.acme.name], served: true } },
    shareShuffle: { ...duchies.settings, folder: join(directory, `${id}.shares`) },
    liquidLegions: { ...duchies.settings, folder: join(directory, `${id}.shares`) },
    log: (event) => log.push(event),
  });
}

const ask = (protocol: Protocol) =>
  consumer.create({
    ...(protocol === 'reachOnlyLiquidLegionsV2'
      ? ({ type: 'reach' } as const)
      : ({ type: 'reachAndFrequency', maximumFrequency: MAXIMUM } as const)),
    protocol,
    privacy: { epsilon: 0.1, delta: 1e-9 },
    dataProviders: Object.values(providers).map(({ party, eventGroup }) => ({
      name: party.name,
      eventGroups: [{ name: eventGroup, interval: INTERVAL }],
    })),
  });
const stateOf = async ({ name }: Measurement) =>
  (await world.acme.client.getMeasurement({ name: name! })).state;

it('agents wait for the duchies, and upload shares that add up to the frequencies of both providers', async () => {
  const logs: Record<string, AgentEvent[]> = { streamly: [], chirper: [] };
  const ledgers = Object.keys(providers).map((id) => openLedger(join(directory, `${id}.sqlite`), BUDGET));
  const agents = Object.keys(providers).map((id, i) => agentOf(id, ledgers[i]!, logs[id]));
  const poll = () => Promise.all(agents.map((agent) => agent.once()));
  await poll();
  const measurement = await ask('honestMajorityShareShuffle');
  expect(await poll()).toEqual(agents.map(() => ({ handled: 0, failed: 0 })));
  expect(Object.values(logs).map((log) => log.map(({ type }) => type))).toEqual([['waiting'], ['waiting']]);
  await duchies.setParameters(measurement);
  expect(await poll()).toEqual(agents.map(() => ({ handled: 1, failed: 0 })));
  expect(await stateOf(measurement)).toBe('COMPUTING');

  const uploads = duchies.all.flatMap((duchy) => duchy.uploads);
  const [one, other] = await Promise.all(uploads.map(opened));
  const sums = one!.frequencies.map((frequency, i) => frequency + other!.frequencies[i]!);
  const counted = (values: number[]) =>
    Array.from({ length: 2 * MAXIMUM + 1 }, (_, k) => values.filter((v) => v === k).length);
  const truth = Array.from({ length: PEOPLE }, (_, i) =>
    Object.values(REACHED).reduce((sum, times) => sum + Math.min(times(i + 1), MAXIMUM), 0),
  );
  expect(counted(sums)).toEqual(counted(truth));
  for (const ledger of ledgers) {
    expect(ledger.audit()).toEqual([]);
    expect(ledger.spending()).toHaveLength(1);
    ledger.close();
  }
});

it.each(['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const)(
  'agents upload sketches of the union, and the computations await confirmation: %s',
  async (protocol) => {
    const ledgers = Object.keys(providers).map((id) =>
      openLedger(join(directory, `${id}.${protocol}.sqlite`), BUDGET),
    );
    const agents = Object.keys(providers).map((id, i) => agentOf(id, ledgers[i]!));
    for (const duchy of duchies.all) duchy.uploads = [];
    for (const agent of agents) await agent.once();
    const measurement = await ask(protocol);
    await duchies.setParameters(measurement);
    for (const agent of agents) expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
    expect(await stateOf(measurement)).toBe('COMPUTING');
    for (const duchy of duchies.all) {
      const { state } = await duchy.client.getComputation({ name: computationOf(duchy, measurement) });
      expect(state).toBe('PENDING_CONFIRMATION');
    }

    const uploads = duchies.all.flatMap((duchy) => duchy.uploads);
    const size = protocol === 'liquidLegionsV2' ? 198 : 66;
    expect(uploads.map(({ data }) => data.length)).toEqual([100 * size, 100 * size]);
    const sketch = new ReachSketch({ decayRate: 3, maxSize: 100 });
    for (let vid = 1; vid <= PEOPLE; vid++) {
      if (Object.values(REACHED).some((times) => times(vid) > 0)) sketch.add(vid);
    }
    const texts = [...sketch.active.keys()].filter((index) => sketch.active[index] === 1).map(String);
    const found = new Set(uploads.flatMap(({ data }) => indexesIn(data, size)));
    expect([...found].sort()).toEqual([...texts, NOBODY_INDEX].map(pointOf).sort());
    for (const ledger of ledgers) {
      expect(ledger.audit()).toEqual([]);
      expect(ledger.spending()).toHaveLength(1);
      ledger.close();
    }
  },
);

const curve = new Curve(128);
const pointOf = (text: string) => Buffer.from(mapToCurve(curve, [text])).toString('hex');

/** Decrypts the indexes of registers with the keys of all duchies. */
function indexesIn(registers: Uint8Array, stride: number): string[] {
  const count = registers.length / stride;
  const points = Buffer.alloc(count * POINT_BYTES);
  const batch = new Ciphertexts(curve);
  batch.load(registers, count, { stride });
  const [last, ...others] = ringOf(RING).map((duchy) => duchies.named(duchy).elGamalKeys.secretKey);
  for (const secretKey of others) batch.decrypt(secretKey);
  batch.open(last!, points);
  return Array.from({ length: count }, (_, i) =>
    points.toString('hex', i * POINT_BYTES, (i + 1) * POINT_BYTES),
  );
}

/** Outside of `npm run stress`, test only one protocol, because each test starts three processes. */
const KILLED: Protocol[] = isStress
  ? ['honestMajorityShareShuffle', 'reachOnlyLiquidLegionsV2']
  : ['honestMajorityShareShuffle'];

it.each(KILLED)(
  'an agent that is killed before the scan and during the upload resends the same share and charges once: %s',
  async (protocol) => {
    const ledgerPath = join(directory, `killed.${protocol}.sqlite`);
    const measurement = await ask(protocol);
    await duchies.setParameters(measurement);
    const received: Buffer[][] = [];
    const start = (dieBefore?: AgentJob['dieBefore']) => startProcess(ledgerPath, dieBefore);
    expect(await start('reading').ended).toBe('SIGKILL');
    const before = spendingIn(ledgerPath);
    expect(before).toHaveLength(1);

    const [worker] = duchies.all;
    const { requisitions } = await worker!.client.getComputation({
      name: computationOf(worker!, measurement),
    });
    const own = requisitions.find(({ dataProvider }) => dataProvider === world.streamly.name)!;
    const fake = duchies.named(own.fulfillingDuchy);
    const stored = fake.onStored;
    const killed = start();
    fake.onStored = async () => {
      received.push(fake.uploads.pop()!.parts);
      killed.kill();
      await sleep(60_000, undefined, { ref: false });
    };
    expect(await killed.ended).toBe('SIGKILL');
    fake.onStored = async (upload) => {
      received.push(upload.parts);
      await stored(upload);
    };
    const last = start();
    for (;;) {
      const { state } = await world.streamly.client.getRequisition({ name: own.name });
      if (state === 'FULFILLED') break;
      expect(last.output()).not.toContain('refused');
      await sleep(20);
    }
    last.kill();
    await last.ended;
    expect(received).toHaveLength(2);
    expect(received[1]).toEqual(received[0]);
    expect(spendingIn(ledgerPath)).toEqual(before);
  },
);

function spendingIn(path: string) {
  const ledger = openLedger(path, BUDGET);
  try {
    expect(ledger.audit()).toEqual([]);
    return ledger.spending();
  } finally {
    ledger.close();
  }
}

function startProcess(ledger: string, dieBefore?: AgentJob['dieBefore']) {
  const { name, certificate, privateKeyPem, encryptionPublicKey, encryptionPrivateKey } = world.streamly;
  const job: AgentJob = {
    baseUrl: world.exchange.url,
    token: world.exchange.dev.dataProviders[0]!.token,
    root: world.root.certificatePem,
    credentials: {
      name,
      certificate,
      privateKeyPem,
      encryptionPublicKey: toBase64(encryptionPublicKey),
      encryptionPrivateKey: toBase64(encryptionPrivateKey),
    },
    events: providers.streamly!.file,
    ledger,
    budget: BUDGET,
    shareShuffle: { ...duchies.settings, populations: 'unchecked', folder: join(directory, 'killed.shares') },
    liquidLegions: {
      duchies: duchies.settings.duchies,
      allowHttp: true,
      folder: join(directory, 'killed.shares'),
    },
    ...(dieBefore && { dieBefore }),
  };
  const child = spawn(process.execPath, [script, JSON.stringify(job)], { stdio: ['ignore', 'pipe', 'pipe'] });
  const endWithUs = () => child.kill('SIGKILL');
  process.once('exit', endWithUs);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      output += text;
    });
  }
  const ended = once(child, 'exit').then(([code, signal]) => {
    process.off('exit', endWithUs);
    return code ?? signal;
  });
  return { ended, kill: () => child.kill('SIGKILL'), output: () => output };
}
