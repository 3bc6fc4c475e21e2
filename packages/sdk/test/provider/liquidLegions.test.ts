/**
 * Tests a provider's sketches from its events to a duchy: their content, their charge, and what happens to them after a
 * crash.
 */
import { createHash, X509Certificate } from 'node:crypto';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromBinary } from '@bufbuild/protobuf';
import { parseCertificate, requisitionFingerprint, verifySignature } from '@measurement-exchange/consent';
import { duchyMessages, ExchangeError, FULFILLMENT_PURPOSE } from '@measurement-exchange/contract';
import { legionsCharge } from '@measurement-exchange/mpc';
import { FrequencySketch } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/provider';
import { ReachSketch } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/provider';
import {
  Ciphertexts,
  Curve,
  combineKeys,
  countPoints,
  DESTROYED,
  DESTROYED_KEY,
  mapToCurve,
  NOBODY_INDEX,
  POINT_BYTES,
} from '@measurement-exchange/mpc/sketches';
import type { Behavior, ReceivedUpload } from '@measurement-exchange/testkit/fakeDuchy';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isSampled } from '../../src/index.ts';
import { type AgentOptions, type Events, openEvents, QueryStopped } from '../../src/provider/index.ts';
import {
  createRingKeys,
  FREQUENCY_LEGIONS,
  LEGIONS,
  RING,
  type RingKeys,
  relayedLegions,
  type SpoiledLegions,
} from './legionsRequisitions.ts';
import { PROVIDER } from './requisitions.ts';
import { ALPHA, BETA, GAMMA } from './shareShuffleRequisitions.ts';
import { CLOSED, frequencySpec, OPEN, responds, type ShareWorld, startShareWorld } from './shareWorld.ts';

/**
 * The VIDs of the people. The person with the VID v has v events, whether or not the population contains the person.
 */
const PEOPLE = Array.from({ length: 12 }, (_, i) => i + 1);

const curve = new Curve(64);
let world: ShareWorld;
let ring: RingKeys;
beforeAll(async () => {
  world = await startShareWorld();
  ring = await createRingKeys(world);
});
beforeEach(() => world.begin());
afterEach(async () => expect(await world.end()).toEqual([]));
afterAll(() => world.stop());

async function scripted(spoiled: SpoiledLegions = {}) {
  const { spec } = spoiled;
  const exchange = await world.scripted({ ...(spec && { spec }), relayed: relayedLegions(ring, spoiled) });
  const liquidLegions = {
    ...{ duchies: world.settings.duchies, folder: world.folder },
    ...{ allowHttp: true, uploadTimeoutSeconds: 5 },
  };
  const agent = (changes: Partial<AgentOptions> = {}) => exchange.agent({ liquidLegions, ...changes });
  return { ...exchange, agent };
}

const frequency = (maximumFrequency: number): SpoiledLegions => ({
  ...(frequencySpec(maximumFrequency) as SpoiledLegions),
  protocol: 'liquidLegionsV2',
});

const textOf = (text: string) => Buffer.from(mapToCurve(curve, [text])).toString('hex');

/**
 * Verifies the signature of an upload, and decrypts its registers with the keys of all duchies. Returns the signed
 * message, and the points of each register in hexadecimal. `ciphertexts` is the number of ciphertexts per register.
 */
async function opened({ fulfillment, data }: ReceivedUpload, ciphertexts: 1 | 3) {
  await verifySignature(
    fulfillment,
    parseCertificate(new X509Certificate(world.provider.certificatePem).raw),
  );
  const message = fromBinary(duchyMessages.FulfillmentSchema, new Uint8Array(fulfillment.message));
  const batch = new Ciphertexts(curve);
  const count = data.length / 66;
  const points = Buffer.alloc(count * POINT_BYTES);
  for (let from = 0; from < count; from += 64) {
    batch.load(data, Math.min(64, count - from), { at: from * 66 });
    const [last, ...others] = RING.map((duchy) => ring.keys[duchy]!.secretKey);
    for (const secretKey of others) batch.decrypt(secretKey);
    batch.open(last!, points, { at: from * POINT_BYTES });
  }
  const size = ciphertexts * POINT_BYTES;
  const registers = Array.from({ length: count / ciphertexts }, (_, i) =>
    points.toString('hex', i * size, (i + 1) * size),
  );
  return { message, registers };
}

function expectedReach(people: readonly (number | bigint)[]): string[] {
  const sketch = new ReachSketch(LEGIONS);
  for (const vid of people) sketch.add(vid);
  return Array.from(sketch.active, (is, index) => textOf(is ? String(index) : NOBODY_INDEX));
}

describe('the sketch that an agent uploads', () => {
  it('contains all people, in shuffled registers that are encrypted with the keys of all duchies', async () => {
    const exchange = await scripted();
    expect(await exchange.agent().once()).toEqual(CLOSED);
    const [upload] = world.duchy.uploads;
    const { message, registers } = await opened(upload!, 1);
    expect(registers.toSorted()).toEqual(expectedReach(PEOPLE).toSorted());
    expect(registers).not.toEqual(expectedReach(PEOPLE));
    expect(upload!.path).toBe(`/v2alpha/${PROVIDER}/requisitions/r1:fulfill`);
    const { requisition } = exchange;
    expect(message).toMatchObject({
      purpose: FULFILLMENT_PURPOSE,
      requisition: requisition.name,
      requisitionFingerprint: await requisitionFingerprint(
        requisition.measurementSpec!.message,
        requisition.encryptedRequisitionSpec!.ciphertext,
      ),
      protocol: 'reachOnlyLiquidLegionsV2',
      populationFingerprint: new Uint8Array(),
      registerCount: 40n,
      dataSha256: new Uint8Array(createHash('sha256').update(upload!.data).digest()),
      dataLength: 40n * 66n,
      duchy: ALPHA,
      certificate: `${PROVIDER}/certificates/c1`,
      protocolData: {
        case: 'liquidLegions',
        value: {
          ...{ workers: [ALPHA, BETA], aggregator: GAMMA, noiseMechanism: 'DISCRETE_GAUSSIAN' },
          ...{ decayRate: 3, maxSize: 40n, samplingIndicatorSize: 0n, maximumFrequency: 0 },
          ...{ histogramEpsilon: 0.1, histogramDelta: 1e-9, publisherEpsilon: 0.1, publisherDelta: 1e-9 },
          combinedPublicKey: combineKeys(
            curve,
            RING.map((duchy) => ring.keys[duchy]!.publicKey),
          ),
        },
      },
    });
    expect(world.types()).toEqual(['received', 'fulfilled']);
    expect(await world.shares()).toEqual([]);
  });

  it('contains the frequency of each person, capped at the requested maximum', async () => {
    const exchange = await scripted(frequency(4));
    expect(await exchange.agent().once()).toEqual(CLOSED);
    const { message, registers } = await opened(world.duchy.uploads[0]!, 3);
    const sketch = new FrequencySketch({ ...FREQUENCY_LEGIONS, samplingIndicatorSize: 1000 });
    for (const vid of PEOPLE) sketch.add(vid, Math.min(vid, 4));
    const special = textOf(DESTROYED_KEY);
    const counts = Buffer.from(countPoints(curve, 5));
    const expected = Array.from(sketch.frequencies, (times, index) => {
      if (times === 0) return textOf(NOBODY_INDEX) + special + special;
      const { [index]: key } = sketch.keys;
      if (key === DESTROYED) return textOf(String(index)) + special + special;
      const count = Math.min(times, 5);
      const point = counts.toString('hex', (count - 1) * POINT_BYTES, count * POINT_BYTES);
      return textOf(String(index)) + textOf(String(key! - 1)) + point;
    });
    expect(registers.toSorted()).toEqual(expected.toSorted());
    expect(message).toMatchObject({
      ...{ protocol: 'liquidLegionsV2', registerCount: 40n, dataLength: 40n * 198n },
      protocolData: { value: { samplingIndicatorSize: 1000n, maximumFrequency: 10 } },
    });
  });

  it('contains only the people of the VID sample', async () => {
    const vidSamplingInterval = { start: 0.25, width: 0.5 };
    const exchange = await scripted({ spec: { vidSamplingInterval } });
    expect(await exchange.agent().once()).toEqual(CLOSED);
    const sampled = PEOPLE.filter((vid) => isSampled(BigInt(vid), vidSamplingInterval));
    const { registers } = await opened(world.duchy.uploads[0]!, 1);
    expect(sampled.length).toBeGreaterThan(0);
    expect(sampled.length).toBeLessThan(12);
    expect(registers.toSorted()).toEqual(expectedReach(sampled).toSorted());
  });

  it.each<[string, string[], bigint[]]>([
    [
      'people whose VIDs are in no population',
      ['-3', '5000000000', `${2n ** 63n - 1n}`],
      [-3n, 5_000_000_000n, 2n ** 63n - 1n],
    ],
    ['the same number of registers if no person was reached', [], []],
  ])('contains %s', async (_what, vids, expected) => {
    const file = join(world.directory, `people-${vids.length}.csv`);
    const rows = [...vids.map((vid) => `${vid},2026-07-01 12:00:00,spring`), '7,2026-01-01 12:00:00,spring'];
    await writeFile(file, `vid,timestamp,event_group\n${rows.join('\n')}\n`);
    const events = await openEvents({ files: file, threads: 1 });
    try {
      const exchange = await scripted();
      expect(await exchange.agent({ events }).once()).toEqual(CLOSED);
      const { registers } = await opened(world.duchy.uploads[0]!, 1);
      expect(registers.toSorted()).toEqual(expectedReach(expected).toSorted());
    } finally {
      await events.close();
    }
  });

  it('has different ciphertexts for each upload of the same people', async () => {
    await (await scripted()).agent().once();
    await (await scripted({ relayed: { name: `${PROVIDER}/requisitions/r2` } })).agent().once();
    const [first, second] = world.duchy.uploads;
    const ciphertexts = (upload: ReceivedUpload) =>
      Array.from({ length: 40 }, (_, i) => upload.data.toString('hex', i * 66, (i + 1) * 66));
    expect(new Set([...ciphertexts(first!), ...ciphertexts(second!)]).size).toBe(80);
    expect((await opened(first!, 1)).registers.toSorted()).toEqual(
      (await opened(second!, 1)).registers.toSorted(),
    );
  });
});

describe('an agent', () => {
  it('reports its supported protocols to the exchange', async () => {
    const exchange = await scripted();
    await exchange.agent().once();
    expect(exchange.capabilities).toEqual([
      {
        honestMajorityShareShuffleSupported: true,
        reachOnlyLiquidLegionsV2Supported: true,
        liquidLegionsV2Supported: true,
      },
    ]);
  });

  it('waits for the duchies of a supported protocol, and refuses an unsupported protocol immediately', async () => {
    const { duchies: _, ...relayed } = relayedLegions(ring);
    const exchange = await scripted({ relayed: { ...relayed, duchies: undefined } as never });
    expect(await exchange.agent().once()).toEqual({ handled: 0, failed: 0 });
    expect(world.types()).toEqual(['waiting']);
    const settings = { duchies: world.settings.duchies, folder: world.folder };
    const other = exchange.agent({ liquidLegions: { ...settings, protocols: ['liquidLegionsV2'] } });
    expect(await other.once()).toEqual(CLOSED);
    expect(exchange.refusals).toMatchObject([{ message: 'PROTOCOL_NOT_OFFERED at protocolConfig' }]);
    expect(exchange.capabilities).toContainEqual({
      honestMajorityShareShuffleSupported: true,
      liquidLegionsV2Supported: true,
    });
  });

  it('logs the progress of the encryption', async () => {
    await (await scripted()).agent().once();
    const stages = world.log.flatMap((event) => (event.type === 'progress' ? [event] : []));
    expect(stages.filter(({ stage }) => stage === 'encrypting')).toMatchObject([{ percent: 100 }]);
  });

  it('charges what the aggregator sees for each day, before it reads events', async () => {
    const exchange = await scripted();
    let charged: unknown[] = [];
    const allPeople: Events['allPeople'] = (...query) => {
      charged = world.ledger.spending();
      return world.events.allPeople(...query);
    };
    await exchange.agent({ events: { ...world.events, allPeople } }).once();
    const { rho, delta } = legionsCharge({
      ...{ measurementType: 'REACH', noiseMechanism: 'DISCRETE_GAUSSIAN', duchies: 3, dataProviders: 2 },
      reachPrivacyParams: { epsilon: 0.5, delta: 1e-9 },
      ...{ histogramPrivacyParams: { epsilon: 0.1, delta: 1e-9 } },
      ...{ publisherPrivacyParams: { epsilon: 0.1, delta: 1e-9 } },
    }) as { rho: number; delta: number };
    expect(charged).toHaveLength(3);
    for (const { spent } of world.ledger.spending()) {
      expect(spent.rho / rho).toBeCloseTo(1, 6);
      expect(spent.delta).toBeGreaterThanOrEqual(delta);
    }
  });

  it('charges a refusal that depends on the events', async () => {
    const exchange = await scripted();
    const allPeople = () => Promise.reject(new QueryStopped('too long'));
    await exchange.agent({ events: { ...world.events, allPeople } }).once();
    expect(exchange.refusals).toMatchObject([{ justification: 'UNFULFILLABLE', message: 'QUERY_STOPPED' }]);
    expect(world.ledger.spending()).toHaveLength(3);
    expect(await world.shares()).toEqual([]);
  });
});

describe('an agent after a crash', () => {
  it('between charge and sketch makes a new sketch without a second charge', async () => {
    const exchange = await scripted();
    const allPeople = () => Promise.reject(new Error('crash'));
    expect(await exchange.agent({ events: { ...world.events, allPeople } }).once()).toEqual(OPEN);
    const before = world.ledger.spending();
    world.reopen();
    expect(await exchange.agent().once()).toEqual(CLOSED);
    expect(world.ledger.spending()).toEqual(before);
  });

  it('between sketch and upload sends the stored bytes, even if the exchange returns another ring', async () => {
    const exchange = await scripted();
    const sent: Buffer[] = [];
    const hangsUp: Behavior = async (request) => {
      for await (const piece of request) sent.push(piece as Buffer);
      request.socket.destroy();
    };
    world.duchy.next = [hangsUp, hangsUp, hangsUp];
    expect(await exchange.agent().once()).toEqual(OPEN);
    const before = world.ledger.spending();
    world.reopen();
    const allPeople = () => Promise.reject(new Error('read again'));
    const { protocolConfig } = relayedLegions(ring, {
      config: { workers: [BETA!, ALPHA!], histogramPrivacyParams: { epsilon: 1, delta: 1e-5 } },
    });
    Object.assign(exchange.requisition, { protocolConfig, fulfillingDuchy: BETA });
    expect(await exchange.agent({ events: { ...world.events, allPeople } }).once()).toEqual(CLOSED);
    const [upload] = world.duchy.uploads;
    expect(Buffer.concat(sent).includes(upload!.parts[0]!)).toBe(true);
    expect(Buffer.concat(sent).includes(upload!.data)).toBe(true);
    expect((await opened(upload!, 1)).message).toMatchObject({
      duchy: ALPHA,
      protocolData: { value: { workers: [ALPHA, BETA], histogramEpsilon: 0.1 } },
    });
    expect(world.ledger.spending()).toEqual(before);
  });

  it('refuses a requisition whose sketch is lost, and does not make it again', async () => {
    const exchange = await scripted();
    world.duchy.next = [responds(new ExchangeError('UPLOAD_MISMATCH', 'no'))];
    await exchange.agent().once();
    await rm(join(world.folder, 'shares', 'streamly.r1.share'));
    expect(await exchange.agent().once()).toEqual(CLOSED);
    expect(exchange.refusals).toEqual([{ justification: 'UNFULFILLABLE', message: 'UPLOAD_LOST' }]);
    expect(world.duchy.uploads).toEqual([]);
  });
});
