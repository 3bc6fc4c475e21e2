/**
 * Tests that a lie either ends the measurement or has no effect: one lie of each kind, with an exchange and three
 * duchies.
 */
import { createHash } from 'node:crypto';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import {
  createEncryptionKeysets,
  createSigner,
  packEncryptionPublicKey,
} from '@measurement-exchange/consent';
import {
  type Computation,
  describeFailure,
  duchyMessages,
  type FailRequest,
  type Measurement,
  type ShareShuffleConfig,
  type SignedMessage,
  STAGE_MESSAGE_PURPOSE,
  StageMessagePart,
  specs,
  toJson,
} from '@measurement-exchange/contract';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { follow } from '../../src/computations/follow.ts';
import { AUDIENCES, truth } from './audiences.ts';
import { lyingTo } from './lyingTo.ts';
import { openResult, reachOf } from './results.ts';
import { makeUpload, readyRequisition, type ShareUpload, toldTerms, uploadAll } from './uploads.ts';
import { type DuchyWorld, startDuchyWorld, type TestDuchy } from './world.ts';

let world: DuchyWorld;
beforeAll(async () => {
  world = await startDuchyWorld();
});
afterAll(async () => {
  expect(await world.stop()).toEqual([]);
});

const idOf = ({ name }: Measurement) => name!.split('/').at(-1)!;
const read = ({ name }: Measurement) => world.acme.client.getMeasurement({ name: name! });

const completed: Measurement[] = [];
async function expectExact(measurement: Measurement): Promise<void> {
  const done = await world.finish(measurement);
  expect(done.state).toBe('SUCCEEDED');
  expect(reachOf(await openResult(world, measurement))).toBe(truth(1).size);
  completed.push(done);
}

/** Expects that the deceived duchy ended the measurement for all parties. */
async function expectFailed(measurement: Measurement, message: RegExp): Promise<void> {
  expect(await world.finish(measurement)).toMatchObject({
    state: 'FAILED',
    failure: { reason: 'COMPUTATION_PARTICIPANT_FAILED', message: expect.stringMatching(message) },
  });
  for (const { query } of world.duchies) {
    const kept = await query('SELECT outcome FROM computations WHERE id = $1', [idOf(measurement)]);
    expect(kept.filter(({ outcome }) => outcome !== 'FAILED')).toEqual([]);
  }
}

describe('a false upload of a provider is rejected, and the measurement keeps waiting:', () => {
  let measurement: Measurement;
  let earlier: ShareUpload;
  beforeAll(async () => {
    const other = await world.ask();
    measurement = await world.ask();
    await world.turn();
    earlier = await makeUpload(world.providers[0]!, other, AUDIENCES[0]!);
    expect((await earlier.send()).status).toBe(200);
  });

  const field = (change: Partial<duchyMessages.Fulfillment>) => (upload: ShareUpload) =>
    Object.assign(upload.fulfillment, change);
  // biome-ignore format: a table, one row per line
  test.each<[what: string, spoil: (upload: ShareUpload) => unknown, says: RegExp]>([
    ['a value equal to the modulus', (u) => u.seal(u.share.with(-1, 127)), /values below 127/],
    ['a short vector', (u) => u.seal(u.share.subarray(0, -1)), /fulfillment\.dataLength/],
    ['incomplete data', (u) => (u.data = u.data.subarray(0, -1)), /fewer/],
    ['a smaller register count', field({ registerCount: 999n }), /fulfillment\.registerCount/],
    ['another population', field({ populationFingerprint: new Uint8Array(32) }), /fulfillment\.populationFingerprint/],
    ['another nonce', field({ nonce: 1n }), /fulfillment\.nonce/],
    ['data that differs from the signed data', (u) => (u.data = u.data.with(-1, u.data.at(-1)! ^ 1)), /SHA-256/],
    ['another computation', field({ computation: 'another' }), /fulfillment\.computation/],
    ['other terms', field({ termsSha256: new Uint8Array(32) }), /fulfillment\.termsSha256/],
    ['the signature of another provider', (u) => (u.privateKeyPem = world.providers[1]!.privateKeyPem), /fulfillment\.signature/],
    ['no seed for the other worker', field({ protocolData: { case: undefined } }), /secretSeed/],
    ['the upload of an earlier measurement, replayed', (u) => Object.assign(u, { fulfillment: earlier.fulfillment, data: earlier.data }), /fulfillment\.requisition/],
  ])('%s', async (_what, spoil, says) => {
    const upload = await makeUpload(world.providers[0]!, measurement, AUDIENCES[0]!);
    await spoil(upload);
    const response = await upload.send();
    expect(response.status).toBe(400);
    expect(await response.text()).toMatch(says);
    expect(await read(measurement)).toMatchObject({ state: 'AWAITING_REQUISITION_FULFILLMENT' });
  });

  test('valid uploads afterwards give the exact result', async () => {
    await uploadAll(world, measurement, AUDIENCES);
    await expectExact(measurement);
  });
});

describe('a duchy that receives false data from the exchange gives up and reports the reason:', () => {
  /** A measurement that no duchy has seen yet. */
  let asked: Measurement;
  let mallorysKey: SignedMessage;
  beforeAll(async () => {
    const { publicKeyset } = await createEncryptionKeysets();
    const mallory = await createSigner(world.providers[0]!.privateKeyPem);
    mallorysKey = await mallory.sign(packEncryptionPublicKey(publicKeyset));
    asked = await world.ask();
  });

  /**
   * Shows the duchy a changed view of `asked`, and returns the failures that the duchy reports. The reports do not
   * reach the exchange.
   */
  async function toldBy(
    { duchy, query }: TestDuchy,
    change: (view: Computation) => unknown,
  ): Promise<string[]> {
    const listed = await Array.fromAsync(duchy.client.listComputations({ parent: duchy.name }));
    const view = listed.find(({ name }) => name!.endsWith(`/${idOf(asked)}`))!;
    change(view);
    const told: string[] = [];
    const failComputation = async ({ body }: { body: FailRequest }) => {
      told.push(describeFailure(body.code, body.position));
      return view;
    };
    await follow({ ...duchy, client: { ...duchy.client, failComputation } as typeof duchy.client }, view);
    expect(await query('SELECT 1 FROM computations WHERE id = $1', [idOf(asked)])).toEqual([]);
    return told;
  }

  const spec = (change: (spec: specs.MeasurementSpec) => unknown) => (view: Computation) => {
    const signed = fromBinary(specs.MeasurementSpecSchema, view.measurementSpec.message);
    change(signed);
    view.measurementSpec.message = toBinary(specs.MeasurementSpecSchema, signed);
  };
  const epsilon = (value: number) =>
    spec(({ measurementType }) => {
      if (measurementType.case === 'reach') measurementType.value.privacyParams!.epsilon = value;
    });
  const protocol = (change: Partial<ShareShuffleConfig>) => (view: Computation) =>
    Object.assign(view.protocolConfig.honestMajorityShareShuffle!, change);
  // biome-ignore format: a table, one row per line
  test.each<[what: string, change: (view: Computation) => unknown, says: RegExp]>([
    ['less noise than the consumer signed', epsilon(10), /SIGNATURE_INVALID at measurementSpec: /],
    ['more noise than the consumer signed', epsilon(0.1), /SIGNATURE_INVALID at measurementSpec: /],
    ['a sample that the consumer did not sign', spec((s) => (s.vidSamplingInterval!.width = 0.1)), /SIGNATURE_INVALID at measurementSpec: /],
    ['a certificate of another consumer', (view) => (view.measurementConsumerCertificate = 'measurementConsumers/globex/certificates/1'), /CERTIFICATE_FOREIGN at measurementConsumerCertificate: /],
    ['a missing provider', (view) => view.requisitions.pop(), /NONCES_NOT_SIGNED: /],
    ['a duchy with two roles', protocol({ aggregator: 'duchies/alpha' }), /PARTICIPANTS_INVALID: /],
    ['a worker that is not a participant', protocol({ firstWorker: 'duchies/mallory' }), /PARTICIPANTS_INVALID: /],
    ['swapped roles', protocol({ firstWorker: 'duchies/gamma', aggregator: 'duchies/alpha' }), /PARTICIPANTS_INVALID: /],
    ['another population', protocol({ populationFingerprint: new Uint8Array(32) }), /POPULATION_MISMATCH at populationFingerprint: /],
    ['a ring modulus that is too small', protocol({ ringModulus: 2 }), /PROTOCOL_UNFIT: /],
    ['an unknown protocol', (view) => (view.protocolConfig = { direct: {} }), /PROTOCOL_UNKNOWN: /],
  ])('%s', async (_what, change, says) => {
    expect(await toldBy(world.of('SECOND_WORKER'), change)).toEqual([expect.stringMatching(says)]);
  });

  describe('false data from the exchange to one duchy fails the measurement for all parties:', () => {
    // biome-ignore format: a table, one row per line
    test.each<[what: string, change: (view: Computation) => unknown, says: RegExp]>([
      ['less noise than the consumer signed', epsilon(10), /SIGNATURE_INVALID at measurementSpec: /],
      ['a key that the other worker did not sign', ({ participants }) => { const own = participants['duchies/alpha']!.parameters?.honestMajorityShareShuffle; if (own) own.publicKey = mallorysKey; }, /PEER_KEY_INVALID at publicKey of duchies\/alpha: /],
      ['a certificate of another duchy', ({ participants }) => { const alpha = participants['duchies/alpha']!; if (alpha.parameters) alpha.certificate = 'duchies/gamma/certificates/1'; }, /CERTIFICATE_FOREIGN at duchies\/alpha: /],
    ])('%s', async (_what, change, says) => {
      await lyingTo(world.of('SECOND_WORKER'), change, async () => {
        const measurement = says.source.startsWith('SIGNATURE') ? asked : await world.ask();
        await world.turn();
        const { state } = await read(measurement);
        if (state !== 'FAILED') await uploadAll(world, measurement, AUDIENCES);
        await expectFailed(measurement, says);
        expect((await read(measurement)).failure!.message).toMatch(/^duchies\/beta gave up/);
      });
    });
  });
});

/** The measurement that the next test creates and does not finish. The test after it finishes this measurement. */
let ignored: Measurement | undefined;

test('a duchy ignores a computation with the name of another duchy, and the measurement keeps waiting', async () => {
  const measurement = await lyingTo(
    world.of('AGGREGATOR'),
    (view) => Object.assign(view, { name: view.name!.replace('gamma', 'beta') }),
    async () => {
      const asked = await world.ask();
      await world.turn();
      return asked;
    },
  );
  expect(await read(measurement)).toMatchObject({ state: 'AWAITING_REQUISITION_FULFILLMENT' });
  ignored = measurement;
});

test('a message that its sender did not sign is rejected, and the measurement succeeds', async () => {
  const measurement = ignored ?? (await world.ask());
  await world.turn();
  await uploadAll(world, measurement, AUDIENCES);
  const { duchy } = world.of('AGGREGATOR');
  const computation = idOf(measurement);
  const data = new Uint8Array(500);
  const message = create(duchyMessages.StageMessageSchema, {
    purpose: STAGE_MESSAGE_PURPOSE,
    computation,
    stage: 'AGGREGATION_PHASE_INPUT',
    sender: 'duchies/alpha',
    recipient: duchy.name,
    dataSha256: createHash('sha256').update(data).digest(),
    dataLength: BigInt(data.length),
    certificate: world.of('FIRST_WORKER').duchy.certificate,
    termsSha256: (await toldTerms(await readyRequisition(world.providers[0]!, measurement))).termsSha256,
  });
  const stranger = await createSigner(world.providers[0]!.privateKeyPem);
  const signed = await stranger.sign(toBinary(duchyMessages.StageMessageSchema, message));
  const body = new FormData();
  body.append('message', toJson(StageMessagePart, { message: signed }));
  body.append('data', new Blob([data]));
  const { endpoint } = (await duchy.client.getParty({ name: duchy.name })) as { endpoint: string };
  const response = await fetch(`${endpoint}/v2alpha/computations/${computation}:advance`, {
    method: 'POST',
    body,
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/message\.signature/);
  await expectExact(measurement);
});

test('the consumer rejects the result of another measurement, and accepts the correct one', async () => {
  const [one, other] = completed as [Measurement, Measurement];
  await expect(world.consumer.open({ ...one, results: other.results! })).rejects.toMatchObject({
    name: 'ResultRejected',
    code: 'NO_MATCHING_KEY',
  });
  const { total } = await world.consumer.open(one);
  expect(total.deduplicated!.reach!.value).toBe(truth(1).size);
});
