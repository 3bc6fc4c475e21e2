/**
 * Tests sketches with one defect: the duchy rejects each upload when it arrives, names the defect, and keeps nothing.
 * Also tests invalid keys of duchies, and messages with one defect.
 */
import { createSigner } from '@measurement-exchange/consent';
import type { Computation, duchyMessages, SignedMessage } from '@measurement-exchange/contract';
import { POINT_BYTES, publishedKey } from '@measurement-exchange/sdk/liquidLegions';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type LegionsComputation,
  makeLegions,
  makeSketch,
  OWN_PAIR,
  points,
  REGISTERS,
  randomPair,
  randomPoint,
} from './sketches.ts';
import {
  type FaceWorld,
  makeMessage,
  sendMessage,
  sendUpload,
  startFaceWorld,
  type TestMessage,
  type TestUpload,
  withData,
} from './world.ts';

let world: FaceWorld;
beforeAll(async () => {
  world = await startFaceWorld();
});
afterAll(async () => {
  await world.stop();
});

const legions = ({ fulfillment }: TestUpload) =>
  fulfillment.protocolData.value as duchyMessages.Fulfillment_LiquidLegions;
const terms = (change: Partial<duchyMessages.Fulfillment_LiquidLegions>) => (upload: TestUpload) =>
  Object.assign(legions(upload), change);
const field = (change: Partial<duchyMessages.Fulfillment>) => (upload: TestUpload) =>
  Object.assign(upload.fulfillment, change);
/** The order of the curve P-256. */
const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
/** Replaces the point at this position with other bytes. */
const point = (at: number, bytes: Uint8Array) => (upload: TestUpload) =>
  withData(
    upload,
    Buffer.concat([
      upload.data.subarray(0, at * POINT_BYTES),
      bytes,
      upload.data.subarray((at + 1) * POINT_BYTES),
    ]),
  );

/** The encoding of a compressed point with x = 1. The curve has no point with this x. */
const OFF_CURVE = Uint8Array.from({ length: POINT_BYTES }, (_, i) =>
  i === 0 ? 2 : i === POINT_BYTES - 1 ? 1 : 0,
);
/** A binding for keys that are rejected for another reason, so its content does not matter. */
const CONTEXT = { duchy: 'duchies/beta', computation: 'none', termsSha256: new Uint8Array(32) };
const TOO_LARGE = Buffer.from(`02${'ff'.repeat(32)}`, 'hex');
const INFINITY = new Uint8Array(POINT_BYTES);
const UNCOMPRESSED = Uint8Array.from({ length: POINT_BYTES }, () => 4);

const PROTOCOLS = ['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const;

/**
 * Returns every second row for one protocol and the other rows for the other protocol. Stress runs test all rows with
 * both protocols.
 */
function inTurn<Row>(protocol: (typeof PROTOCOLS)[number], rows: Row[]): Row[] {
  return rows.filter((_, i) => isStress || i % PROTOCOLS.length === PROTOCOLS.indexOf(protocol));
}

describe.each(PROTOCOLS)('%s:', (protocol) => {
  test('a valid upload is stored and reported once, a repetition succeeds, and a different upload is rejected', async () => {
    const computation = await makeLegions(world, protocol);
    const upload = await makeSketch(world, computation);
    expect(await sendUpload(world, upload)).toMatchObject({ status: 200, body: { state: 'FULFILLED' } });
    expect(await sendUpload(world, upload)).toMatchObject({ status: 200 });
    expect(await world.kept(computation.id)).toEqual({ uploads: 1, messages: 0, blobs: 1 });
    expect(world.exchange.reports.filter((r) => r === upload.requisition)).toHaveLength(1);
    const other = await makeSketch(world, computation);
    expect(await sendUpload(world, other)).toMatchObject({ status: 409, reason: 'UPLOAD_ALREADY_EXISTS' });
  });

  describe('an upload with one defect is rejected, and nothing is stored:', () => {
    let computation: LegionsComputation;
    beforeAll(async () => {
      computation = await makeLegions(world, protocol);
    });

    // biome-ignore format: a table, one row per line
    test.each(inTurn<[what: string, spoil: (upload: TestUpload) => unknown, named: string]>(protocol, [
      ['the other protocol', field({ protocol: protocol === 'liquidLegionsV2' ? 'reachOnlyLiquidLegionsV2' : 'liquidLegionsV2' }), 'fulfillment.protocol'],
      ['the share-shuffle protocol', field({ protocol: 'honestMajorityShareShuffle' }), 'fulfillment.protocol'],
      ['a population fingerprint', field({ populationFingerprint: new Uint8Array(32) }), 'fulfillment.populationFingerprint'],
      ['another nonce', field({ nonce: 1n }), 'fulfillment.nonce'],
      ['a register count that is too small', field({ registerCount: BigInt(REGISTERS - 1) }), 'fulfillment.registerCount'],
      ['a data length that no sketch has', field({ dataLength: 66n }), 'fulfillment.dataLength'],
      ['fewer registers than declared', (u) => withData(u, u.data.subarray(POINT_BYTES)), 'data'],
      ['more registers than declared', (u) => withData(u, Buffer.concat([u.data, points(2)])), 'data'],
      ['data that differs from the signed data', (u) => (u.data = points(u.data.length / POINT_BYTES)), 'data'],
      ['a point that is not on the curve', point(0, OFF_CURVE), 'data'],
      ['a last point that is not on the curve', (u) => point(u.data.length / POINT_BYTES - 1, OFF_CURVE)(u), 'data'],
      ['a point with a coordinate above the field', point(3, TOO_LARGE), 'data'],
      ['the point at infinity', point(1, INFINITY), 'data'],
      ['an uncompressed point', point(2, UNCOMPRESSED), 'data'],
      ['no Liquid Legions parameters', field({ protocolData: { case: undefined } }), 'fulfillment.liquidLegions'],
      ['a missing worker', (u) => legions(u).workers.pop(), 'fulfillment.liquidLegions.workers'],
      ['workers in another order', (u) => legions(u).workers.reverse(), 'fulfillment.liquidLegions.workers'],
      ['two workers joined into one name', (u) => (legions(u).workers = [legions(u).workers.join(',')]), 'fulfillment.liquidLegions.workers'],
      ['another aggregator', terms({ aggregator: 'duchies/mallory' }), 'fulfillment.liquidLegions.aggregator'],
      ['another noise mechanism', terms({ noiseMechanism: 'NONE' }), 'fulfillment.liquidLegions.noiseMechanism'],
      ['another decay rate', terms({ decayRate: 11 }), 'fulfillment.liquidLegions.decayRate'],
      ['another maximum size', terms({ maxSize: 6n }), 'fulfillment.liquidLegions.maxSize'],
      ['another histogram epsilon', terms({ histogramEpsilon: 1 }), 'fulfillment.liquidLegions.histogramEpsilon'],
      ['another histogram delta', terms({ histogramDelta: 1e-6 }), 'fulfillment.liquidLegions.histogramDelta'],
      ['another publisher epsilon', terms({ publisherEpsilon: 1 }), 'fulfillment.liquidLegions.publisherEpsilon'],
      ['another publisher delta', terms({ publisherDelta: 1e-6 }), 'fulfillment.liquidLegions.publisherDelta'],
      ['another sampling indicator size', terms({ samplingIndicatorSize: 7n }), 'fulfillment.liquidLegions.samplingIndicatorSize'],
      ['another maximum frequency', terms({ maximumFrequency: 7 }), 'fulfillment.liquidLegions.maximumFrequency'],
      ['another combined key', terms({ combinedPublicKey: randomPoint() }), 'fulfillment.liquidLegions.combinedPublicKey'],
      ['the key of one duchy alone', (u) => (legions(u).combinedPublicKey = computation.keys['duchies/alpha']!), 'fulfillment.liquidLegions.combinedPublicKey'],
      ['no combined key', terms({ combinedPublicKey: new Uint8Array(0) }), 'fulfillment.liquidLegions.combinedPublicKey'],
      ['another computation', field({ computation: 'another' }), 'fulfillment.computation'],
      ['other terms', field({ termsSha256: new Uint8Array(32) }), 'fulfillment.termsSha256'],
      ['no terms', field({ termsSha256: new Uint8Array() }), 'fulfillment.termsSha256'],
      ['a certificate of another provider', field({ certificate: 'dataProviders/chirper/certificates/1' }), 'fulfillment.certificate'],
      ['a signature of another provider', (u) => (u.privateKeyPem = world.identities['dataProviders/chirper']!.privateKeyPem), 'fulfillment.signature'],
    ]))('%s', async (_what, spoil, named) => {
      const upload = await makeSketch(world, computation);
      spoil(upload);
      expect(await sendUpload(world, upload)).toMatchObject({ status: 400, field: named });
      expect(await world.kept(computation.id)).toEqual({ uploads: 0, messages: 0, blobs: 0 });
    });
  });

  describe('the ElGamal keys that the exchange shows', () => {
    const parameters = (view: Computation, duchy: string) =>
      view.participants[duchy]!.parameters![protocol] as {
        publicKey: SignedMessage;
        elGamalPublicKey: SignedMessage;
      };
    let mallorys: SignedMessage;
    let betas: (bytes: Uint8Array) => Promise<SignedMessage>;
    let unsigned: { generator: SignedMessage };
    beforeAll(async () => {
      const mallory = await createSigner(world.identities['dataProviders/chirper']!.privateKeyPem);
      mallorys = await mallory.sign(publishedKey(randomPair(), CONTEXT));
      const beta = await createSigner(world.identities['duchies/beta']!.privateKeyPem);
      betas = (bytes) => beta.sign(bytes);
      const packed = publishedKey(randomPair(), CONTEXT);
      // Overwrite bytes of the generator. In the message, the generator follows the curve number and its own field
      // header.
      const other = Buffer.from(packed).fill(7, 10, 20);
      unsigned = { generator: await betas(other) };
    });
    const one = randomPair();
    const { publicKey, secretKey } = OWN_PAIR;
    const minusSecret = (ORDER - BigInt(`0x${Buffer.from(secretKey).toString('hex')}`)).toString(16);
    const negative = {
      secretKey: Buffer.from(minusSecret.padStart(64, '0'), 'hex'),
      publicKey: Uint8Array.from(publicKey).with(0, publicKey[0] === 2 ? 3 : 2),
    };

    // biome-ignore format: a table, one row per line
    test.each(inTurn<[what: string, options: Parameters<typeof makeLegions>[2], says: RegExp]>(protocol, [
      ['a key that its duchy did not sign', { change: (view) => (parameters(view, 'duchies/beta').elGamalPublicKey = mallorys) }, /PEER_KEY_INVALID at elGamalPublicKey of duchies\/beta: /],
      ['the key of another duchy', { change: (view) => (parameters(view, 'duchies/beta').elGamalPublicKey = parameters(view, 'duchies/gamma').elGamalPublicKey) }, /PEER_KEY_INVALID at elGamalPublicKey of duchies\/beta: /],
      ['a certificate of another duchy', { change: (view) => (view.participants['duchies/beta']!.certificate = 'duchies/gamma/certificates/1') }, /CERTIFICATE_FOREIGN at duchies\/beta: /],
      ['a key with another generator', { change: (view) => (parameters(view, 'duchies/beta').elGamalPublicKey = unsigned.generator) }, /PEER_KEY_INVALID at elGamalPublicKey of duchies\/beta: /],
      ['a key that is not on the curve', { pairs: { 'duchies/beta': { ...one, publicKey: OFF_CURVE } } }, /PEER_KEY_INVALID at elGamalPublicKey of duchies\/beta: /],
      ['a key whose secret its duchy does not know', { pairs: { 'duchies/beta': { ...one, publicKey: randomPoint() } } }, /PEER_KEY_INVALID at elGamalPublicKey of duchies\/beta: /],
      ['a key for another computation', { bindings: { 'duchies/beta': { computation: 'another' } } }, /TERMS_MISMATCH at elGamalPublicKey of duchies\/beta: /],
      ['a key bound to another duchy', { bindings: { 'duchies/beta': { duchy: 'duchies/gamma' } } }, /TERMS_MISMATCH at elGamalPublicKey of duchies\/beta: /],
      ['a key bound to other terms', { bindings: { 'duchies/gamma': { termsSha256: new Uint8Array(32) } } }, /TERMS_MISMATCH at elGamalPublicKey of duchies\/gamma: /],
      ['the same key for two duchies', { pairs: { 'duchies/beta': one, 'duchies/gamma': one } }, /PEER_KEY_INVALID at elGamalPublicKey: /],
      ['two keys that cancel each other out', { pairs: { 'duchies/beta': negative } }, /PEER_KEY_INVALID at elGamalPublicKey: /],
    ]))('fail the computation with %s', async (_what, options, says) => {
      const computation = await makeLegions(world, protocol, options);
      const answer = await sendUpload(world, await makeSketch(world, computation));
      expect(answer).toMatchObject({ status: 400, reason: 'COMPUTATION_STATE_ILLEGAL' });
      expect(answer.body.error).toHaveProperty('message', expect.stringMatching(says));
      expect(await world.kept(computation.id)).toEqual({ uploads: 0, messages: 0, blobs: 0 });
      const [stored] = await world.database.query('SELECT outcome, failure FROM computations WHERE id = $1', [computation.id]);
      expect(stored).toMatchObject({ outcome: 'FAILED', failure: expect.stringMatching(says) });
    });

    test('cause STAGE_OUT_OF_ORDER for an upload until every duchy has published its key', async () => {
      const computation = await makeLegions(world, protocol, {
        change: (view) => (view.participants['duchies/gamma']!.parameters = undefined),
      });
      const answer = await sendUpload(world, await makeSketch(world, computation));
      expect(answer).toMatchObject({ status: 409, reason: 'STAGE_OUT_OF_ORDER' });
    });
  });
});

describe('a message in the ring', () => {
  const waiting = () =>
    makeLegions(world, 'reachOnlyLiquidLegionsV2', { stage: 'WAIT_EXECUTION_PHASE_INPUTS' });
  const registers = { stage: 'EXECUTION_PHASE_INPUT', sender: 'duchies/gamma' };

  test('is accepted from the previous duchy, and starts the next stage of the computation', async () => {
    const computation = await waiting();
    const message = await makeMessage(world, computation, registers);
    expect(await sendMessage(world, message)).toMatchObject({ status: 200 });
    const [row] = await world.database.query('SELECT stage FROM computations WHERE id = $1', [
      computation.id,
    ]);
    expect(row).toEqual({ stage: 'EXECUTION_PHASE' });
  });

  // biome-ignore format: a table, one row per line
  test.each<[what: string, sent: { stage: string; sender: string }, spoil: (message: TestMessage) => unknown, named: string]>([
    ['the next duchy as the sender', { ...registers, sender: 'duchies/beta' }, () => {}, 'message.sender'],
    ['a stage that only the aggregator receives', { ...registers, stage: 'SETUP_PHASE_INPUT' }, () => {}, 'message.stage'],
    ['a stage of the other protocol', { ...registers, stage: 'EXECUTION_PHASE_ONE_INPUT' }, () => {}, 'message.stage'],
    ['a data length above that of all registers', registers, (m) => (m.message.dataLength = 2n ** 24n), 'message.dataLength'],
    ['a signature of another duchy', registers, (m) => (m.privateKeyPem = world.identities['duchies/beta']!.privateKeyPem), 'message.signature'],
  ])('is rejected with %s', async (_what, sent, spoil, named) => {
    const computation = await waiting();
    const message = await makeMessage(world, computation, sent);
    spoil(message);
    expect(await sendMessage(world, message)).toMatchObject({ status: 400, field: named });
    expect(await world.kept(computation.id)).toEqual({ uploads: 0, messages: 0, blobs: 0 });
  });
});
