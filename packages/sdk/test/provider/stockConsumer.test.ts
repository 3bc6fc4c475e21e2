/**
 * Tests that a consumer from the public reference system can measure with this SDK's agents, directly and with duchies.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { parseCertificatePem, requireTrusted } from '@measurement-exchange/consent';
import { specs, TYPE_URLS } from '@measurement-exchange/contract';
import { computationOf, type FakeDuchies, startFakeDuchies } from '@measurement-exchange/testkit/fakeDuchies';
import { openUpload, type ReceivedUpload } from '@measurement-exchange/testkit/fakeDuchy';
import { addDuchies, SHARE_SHUFFLE } from '@measurement-exchange/testkit/shareShuffle';
import { ok, post } from '@measurement-exchange/testkit/steps';
import {
  type Message,
  openStock,
  type Stock,
  type StockClient,
  tlsIdentity,
} from '@measurement-exchange/testkit/stock';
import { StockConsumer } from '@measurement-exchange/testkit/stockParties';
import { type Party, startWorld, type World } from '@measurement-exchange/testkit/world';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createSigner, encrypt, packSignedMessage, parseCertificate } from '../../src/index.ts';
import { createAgent, type Events, openEvents, openLedger } from '../../src/provider/index.ts';

const PEOPLE = 200;
const INTERVAL = { start_time: seconds('2026-07-01'), end_time: seconds('2026-07-02') };
/** The first and last VID that each provider reached. Each provider reached each of its people once. */
const REACHED: Record<string, [first: number, last: number]> = { streamly: [1, 100], chirper: [51, 150] };
const BUDGET = { epsilon: 1e6, delta: 1, rho: 1e3 };

let world: World;
let duchies: FakeDuchies;
let stock: Stock;
let client: StockClient;
let consumer: StockConsumer;
let directory: string;
interface Provider {
  party: Party;
  events: Events;
  eventGroup: string;
}
const providers: Record<string, Provider> = {};

function seconds(day: string) {
  return { seconds: String(Date.parse(`${day}T00:00:00Z`) / 1000) };
}

beforeAll(async () => {
  world = await startWorld({ protocols: { honestMajorityShareShuffle: SHARE_SHUFFLE } }, addDuchies);
  const { exchange, acme, root } = world;
  directory = await mkdtemp(join(tmpdir(), 'mex-stock-'));
  duchies = await startFakeDuchies(exchange, PEOPLE);
  const [dev] = exchange.dev.measurementConsumers;
  const { authenticationKey } = await ok(
    post(exchange, dev!, `${acme.name}/apiKeys`, { displayName: 'Reporting' }),
  );
  stock = await openStock(exchange.dev);
  // Connect as a reporting server does: with the server's own certificate, and with the API key of the consumer that it
  // acts for.
  const identity = await tlsIdentity(root, 'measurementConsumers/globex');
  client = stock.connect({ identity, headers: { 'x-api-key': authenticationKey } });
  consumer = new StockConsumer(stock, client, acme);
  for (const [id, party] of Object.entries({ streamly: world.streamly, chirper: world.chirper })) {
    const [first, last] = REACHED[id]!;
    const rows = Array.from(
      { length: last - first + 1 },
      (_, i) => `${first + i},2026-07-01 12:00:00,spring`,
    );
    const file = join(directory, `${id}.csv`);
    await writeFile(file, `vid,timestamp,event_group\n${rows.join('\n')}\n`);
    const body = { measurementConsumer: acme.name, eventGroupReferenceId: 'spring' };
    const { name } = await party.client.createEventGroup({ parent: party.name, body });
    providers[id] = { party, eventGroup: name!, events: await openEvents({ files: file, threads: 1 }) };
  }
});
afterAll(async () => {
  client.close();
  for (const { events } of Object.values(providers)) await events.close();
  await duchies.close();
  await rm(directory, { recursive: true });
  expect(await world.exchange.stop()).toEqual([]);
});

/** Runs every agent once. */
async function work(): Promise<void> {
  for (const [id, { party, events }] of Object.entries(providers)) {
    const ledger = openLedger(join(directory, `${id}.sqlite`), BUDGET);
    const agent = createAgent({
      client: party.client,
      credentials: party,
      trust: world.trust,
      events,
      ledger,
      references: { spring: { measurementConsumers: [world.acme.name], served: true } },
      shareShuffle: { ...duchies.settings, folder: join(directory, `${id}.shares`) },
    });
    expect(await agent.once()).toMatchObject({ failed: 0 });
    ledger.close();
  }
}

const asked = (...ids: string[]) =>
  ids.map((id) => {
    const { party, eventGroup } = providers[id]!;
    return {
      name: party.name,
      eventGroups: [{ key: eventGroup, value: { collection_interval: INTERVAL } }],
    };
  });
const reach = (epsilon: number, delta: number) => ({ reach: { privacy_params: { epsilon, delta } } });

/** Checks that the certificate was issued by the root of its party. */
async function trust(x509Der: Uint8Array, name: string): Promise<void> {
  const party = name.split('/').slice(0, 2).join('/');
  const roots = [{ pem: world.root.certificatePem }, ...duchies.roots].map((root) => ({
    party: 'party' in root ? root.party : undefined,
    x509: parseCertificatePem(root.pem),
  }));
  await requireTrusted(parseCertificate(x509Der), party, roots, new Date());
}

it('a consumer of the public reference system opens the direct result of an agent', async () => {
  const created = await consumer.create({ measurementType: reach(1e5, 0), dataProviders: asked('streamly') });
  await work();
  const measurement = await consumer.wait(created.name);
  expect(measurement).toMatchObject({ state: 'SUCCEEDED', failure: null });
  const [result] = await consumer.open(measurement, trust);
  expect(result.reach).toMatchObject({ value: '100', deterministic_count_distinct: {} });
});

it('a consumer of the public reference system opens the deduplicated result of agents and duchies', async () => {
  await work();
  const created = await consumer.create({
    measurementType: reach(0.1, 1e-9),
    dataProviders: asked('streamly', 'chirper'),
  });
  expect(created.protocol_config).toMatchObject({
    measurement_type: 'REACH',
    protocols: [{ honest_majority_share_shuffle: { noise_mechanism: 'DISCRETE_GAUSSIAN' } }],
  });
  await duchies.setParameters(created);
  await work();
  const uploads = duchies.all.flatMap((duchy) => duchy.uploads);
  expect(uploads).toHaveLength(2);
  await finish(created.name, await unionOf(uploads));
  const measurement = await consumer.wait(created.name);
  expect(measurement).toMatchObject({ state: 'SUCCEEDED', failure: null });
  const [result] = await consumer.open(measurement, trust);
  expect(result.reach).toMatchObject({
    value: '150',
    honest_majority_share_shuffle: { frequency_vector_size: String(PEOPLE) },
  });
  const parent = created.name;
  const { requisitions } = await client.call('Requisitions/ListRequisitions', { parent });
  expect(requisitions.map(({ state, name }: Message) => [state, name.split('/requisitions/')[0]])).toEqual(
    expect.arrayContaining(asked('streamly', 'chirper').map(({ name }) => ['FULFILLED', name])),
  );
});

/** Returns the number of people in at least one of the two uploads, as the duchies would count them. */
async function unionOf(uploads: ReceivedUpload[]): Promise<number> {
  const [first, second] = duchies.all;
  const [one, other] = await Promise.all(
    uploads.map(async (upload) => {
      const [, id] = /dataProviders\/(\w+)\//.exec(upload.path)!;
      const { party } = providers[id!]!;
      const { x509Der } = await party.client.getCertificate({ name: party.certificate });
      const [worker, peer] = first!.uploads.includes(upload) ? [first!, second!] : [second!, first!];
      const keys = { worker: worker.keys.privateKeyset, peer: peer.keys.privateKeyset };
      return openUpload(upload, { provider: x509Der, ...keys });
    }),
  );
  return one!.frequencies.filter((frequency, i) => frequency + other!.frequencies[i]! > 0).length;
}

/** Signs this reach as the aggregator, encrypts it for the consumer, and sets it as the measurement's result. */
async function finish(measurement: string, value: number): Promise<void> {
  const aggregator = duchies.named(SHARE_SHUFFLE.aggregator);
  const name = computationOf(aggregator, { name: measurement });
  const { etag } = await aggregator.client.getComputation({ name });
  const result = create(specs.Measurement_ResultSchema, {
    reach: {
      value: BigInt(value),
      noiseMechanism: specs.ProtocolConfig_NoiseMechanism.DISCRETE_GAUSSIAN,
      methodology: { case: 'honestMajorityShareShuffle', value: { frequencyVectorSize: BigInt(PEOPLE) } },
    },
  });
  const signer = await createSigner(aggregator.identity.privateKeyPem);
  const signed = await signer.sign(toBinary(specs.Measurement_ResultSchema, result));
  const typeUrl = TYPE_URLS.MeasurementResult;
  const ciphertext = await encrypt(world.acme.encryptionPublicKey, packSignedMessage(signed, typeUrl));
  const encryptedResult = { ciphertext, typeUrl };
  const { certificate } = aggregator;
  await aggregator.client.setComputationResult({
    name,
    body: { etag: etag!, certificate, encryptedResult },
  });
}
