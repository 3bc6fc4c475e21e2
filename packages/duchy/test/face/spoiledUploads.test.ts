/**
 * Tests uploads with one defect: the duchy rejects each upload when it arrives, names the defect, and keeps nothing.
 */
import { randomBytes } from 'node:crypto';
import { createEncryptionKeysets, publicKeysetOf } from '@measurement-exchange/consent';
import type { duchyMessages } from '@measurement-exchange/contract';
import { createIdentity } from '@measurement-exchange/sdk/identity';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endComputation, readSecrets, updateView } from '../../src/database/index.ts';
import { sealShare } from '../sealedShare.ts';
import { MODULUS, type TestComputation } from '../view.ts';
import {
  type Answer,
  derOf,
  type FaceWorld,
  form,
  makeUpload,
  REGISTERS,
  randomShare,
  sendUpload,
  startFaceWorld,
  type TestShare,
  type TestUpload,
  unended,
  withData,
} from './world.ts';

let world: FaceWorld;
beforeAll(async () => {
  world = await startFaceWorld();
});
afterAll(() => world.stop());

const { publicKeyset: OTHER_KEYSET } = await createEncryptionKeysets();
const keysetOf = async ({ id }: TestComputation) =>
  publicKeysetOf((await readSecrets(world.database.db, id)).privateKeyset!);
const flip = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte));

/**
 * Damages an upload. Each row of the table below has the name of a defect, a function that causes the defect, and
 * properties that the response must have.
 */
type Spoil = (upload: TestShare, computation: TestComputation) => void | Promise<void>;
// biome-ignore format: a table, one row per line
const SPOILED: [what: string, spoil: Spoil, expected: Partial<Answer>][] = [
  ['another purpose', (u) => { u.fulfillment.purpose = 'mex.contract.StageMessage'; }, at('purpose')],
  ['another requisition', (u, c) => { u.fulfillment.requisition = c.view.requisitions[1]!.name; }, at('requisition')],
  ['another duchy', (u) => { u.fulfillment.duchy = 'duchies/beta'; }, at('duchy')],
  ['another requisition fingerprint', (u) => { u.fulfillment.requisitionFingerprint = flip(u.fulfillment.requisitionFingerprint); }, at('requisitionFingerprint')],
  ['an empty requisition fingerprint', (u) => { u.fulfillment.requisitionFingerprint = new Uint8Array(); }, at('requisitionFingerprint')],
  ['another nonce', (u) => { u.fulfillment.nonce += 1n; }, { status: 400, reason: 'NONCE_MISMATCH', field: 'fulfillment.nonce' }],
  ['the nonce of another provider', (u, c) => { u.fulfillment.nonce = c.nonces[1]!; }, { reason: 'NONCE_MISMATCH' }],
  ['another computation', (u) => { u.fulfillment.computation = 'another'; }, at('computation')],
  ['no computation', (u) => { u.fulfillment.computation = ''; }, at('computation')],
  ['other terms', (u) => { u.fulfillment.termsSha256 = flip(u.fulfillment.termsSha256); }, at('termsSha256')],
  ['no terms', (u) => { u.fulfillment.termsSha256 = new Uint8Array(); }, at('termsSha256')],
  ['another protocol', (u) => { u.fulfillment.protocol = 'liquidLegionsV2'; }, at('protocol')],
  ['another population', (u) => { u.fulfillment.populationFingerprint = flip(u.fulfillment.populationFingerprint); }, at('populationFingerprint')],
  ['another register count', (u) => { u.fulfillment.registerCount -= 1n; }, at('registerCount')],
  ['a longer vector', async (u) => { await u.seal(randomShare(REGISTERS + 1)); u.fulfillment.registerCount += 1n; u.fulfillment.dataLength += 1n; }, at('registerCount')],
  ['another data length', (u) => { u.fulfillment.dataLength += 1n; }, at('dataLength')],
  ['a negative data length', (u) => { u.fulfillment.dataLength = -1n; }, at('dataLength')],
  ['another digest', (u) => { u.fulfillment.dataSha256 = flip(u.fulfillment.dataSha256); }, inData(/SHA-256/)],
  ['a short digest', (u) => { u.fulfillment.dataSha256 = u.fulfillment.dataSha256.subarray(1); }, at('dataSha256')],
  ['a changed byte of the data', (u) => { u.data = u.data.with(-1, u.data.at(-1)! ^ 1); }, inData(/SHA-256/)],
  ['a share that is not encrypted', (u) => { withData(u, Buffer.concat([u.share, randomBytes(u.data.length - u.share.length)])); }, inData(/encrypted for the key/)],
  ['a share encrypted for another key', async (u) => { withData(u, await sealShare(OTHER_KEYSET, u.requisition, u.share)); }, inData(/encrypted for the key/)],
  ['a share encrypted for another requisition', async (u, c) => { withData(u, await sealShare(await keysetOf(c), c.view.requisitions[1]!.name, u.share)); }, inData(/encrypted for the key/)],
  ['an encrypted share with a changed byte', (u) => { withData(u, u.data.with(300, u.data[300]! ^ 1)); }, inData(/encrypted for the key/)],
  ['a value equal to the modulus', (u) => u.seal(u.share.with(20, MODULUS)), inData(/values below 127/)],
  ['a last value above the modulus', (u) => u.seal(u.share.with(-1, 255)), inData(/values below 127/)],
  ['another protobuf field', (u) => u.seal(u.share.with(0, 0x12)), inData(/FrequencyVector/)],
  ['another register count in the data', (u) => u.seal(u.share.with(1, u.share[1]! ^ 1)), inData(/FrequencyVector of 300/)],
  ['data shorter than declared', (u) => { u.data = u.data.subarray(0, -1); }, inData(/574 bytes, fewer/)],
  ['data longer than declared', (u) => { u.data = Buffer.concat([u.data, Uint8Array.of(0)]); }, inData(/longer/)],
  ['empty data', (u) => { u.data = new Uint8Array(); }, inData(/0 bytes, fewer/)],
  ['no seed', (u) => { u.fulfillment.protocolData = { case: undefined }; }, at('honestMajorityShareShuffle.secretSeed')],
  ['a seed of 10 kB', (u) => { setSeed(u, randomBytes(10_000)); }, at('honestMajorityShareShuffle.secretSeed')],
  ['another first worker', (u) => { shuffleOf(u).firstWorker = 'duchies/gamma'; }, at('honestMajorityShareShuffle.firstWorker')],
  ['another second worker', (u) => { shuffleOf(u).secondWorker = 'duchies/delta'; }, at('honestMajorityShareShuffle.secondWorker')],
  ['another aggregator', (u) => { shuffleOf(u).aggregator = 'duchies/delta'; }, at('honestMajorityShareShuffle.aggregator')],
  ['no aggregator', (u) => { shuffleOf(u).aggregator = ''; }, at('honestMajorityShareShuffle.aggregator')],
  ['another noise mechanism', (u) => { shuffleOf(u).noiseMechanism = 'GEOMETRIC'; }, at('honestMajorityShareShuffle.noiseMechanism')],
  ['another ring modulus', (u) => { shuffleOf(u).ringModulus = 113; }, at('honestMajorityShareShuffle.ringModulus')],
  ['a certificate of another provider', (u) => { u.fulfillment.certificate = 'dataProviders/chirper/certificates/1'; }, certificate(/CERTIFICATE_FOREIGN at dataProviders\/streamly/)],
  ['a certificate that does not exist', (u) => { u.fulfillment.certificate = 'dataProviders/streamly/certificates/9'; }, certificate(/does not exist/)],
  ['a revoked certificate', (u) => { u.fulfillment.certificate = 'dataProviders/streamly/certificates/revoked'; }, certificate(/REVOKED/)],
  ['a certificate of an unknown root', (u) => { u.fulfillment.certificate = 'dataProviders/streamly/certificates/untrusted'; }, certificate(/root/)],
  ['an expired certificate', (u) => { u.fulfillment.certificate = 'dataProviders/streamly/certificates/expired'; }, certificate(/expired/)],
  ['a signature of another provider', (u) => { u.privateKeyPem = world.identities['dataProviders/chirper']!.privateKeyPem; }, at('signature')],
  ['a signature of a duchy', (u) => { u.privateKeyPem = world.identities['duchies/beta']!.privateKeyPem; }, at('signature')],
  ['a changed signature', (u) => { u.afterSigning = (s) => ({ ...s, signature: s.signature.with(-1, s.signature.at(-1)! ^ 1) }); }, at('signature')],
  ['a seed that was changed after signing', (u) => { u.afterSigning = resealed(u); }, at('signature')],
  ['a requisition that does not exist', (u) => { u.requisition = 'dataProviders/streamly/requisitions/none'; u.fulfillment.requisition = u.requisition; }, { status: 404, reason: 'REQUISITION_NOT_FOUND' }],
  ['malformed JSON', (u) => { u.body = (_json, data) => form('fulfillment')('{"fulfillment": ', data); }, { status: 400, reason: 'MALFORMED_JSON' }],
  ['an unknown JSON member', (u) => { u.body = (json, data) => form('fulfillment')(json.replace('{', '{"token": "x", '), data); }, { reason: 'INVALID_FIELD_VALUE', field: 'token' }],
  ['a message that cannot be decoded', (u) => { u.afterSigning = (s) => ({ ...s, message: Uint8Array.of(0xff, 0xff) }); }, { reason: 'INVALID_FIELD_VALUE', field: 'fulfillment.message' }],
  ['a missing data part', (u) => { u.body = (json) => { const body = new FormData(); body.append('fulfillment', json); return body; }; }, { reason: 'REQUIRED_FIELD_NOT_SET', field: 'data' }],
  ['a missing fulfillment part', (u) => { u.body = (_json, data) => { const body = new FormData(); body.append('data', new Blob([Uint8Array.from(data)])); return body; }; }, { reason: 'MALFORMED_REQUEST' }],
  ['the data part before the fulfillment part', (u) => { u.body = (json, data) => { const body = new FormData(); body.append('data', new Blob([Uint8Array.from(data)])); body.append('fulfillment', json); return body; }; }, { reason: 'MALFORMED_REQUEST' }],
  ['a third part', (u) => { u.body = (json, data) => { const body = form('fulfillment')(json, data); body.append('more', 'x'); return body; }; }, { reason: 'MALFORMED_REQUEST' }],
  ['two data parts', (u) => { u.body = (json, data) => { const body = form('fulfillment')(json, data); body.append('data', new Blob(['x'])); return body; }; }, { reason: 'MALFORMED_REQUEST' }],
  ['a fulfillment part of 100 kB', (u) => { u.body = (json, data) => form('fulfillment')(`${json}${' '.repeat(100_000)}`, data); }, { status: 413, reason: 'BODY_TOO_LARGE' }],
  ['an incomplete body', (u) => { u.body = (json, data) => unended(json, data); u.headers = { 'content-type': 'multipart/form-data; boundary=b' }; }, { reason: 'MALFORMED_REQUEST' }],
  ['a content type without a boundary', (u) => { u.body = (json) => json; u.headers = { 'content-type': 'multipart/form-data' }; }, { reason: 'UNSUPPORTED_MEDIA_TYPE' }],
  ['content type application/json', (u) => { u.body = (json) => json; u.headers = { 'content-type': 'application/json' }; }, { status: 415, reason: 'UNSUPPORTED_MEDIA_TYPE' }],
  ['content encoding gzip', (u) => { u.headers = { 'content-encoding': 'gzip' }; }, { status: 415, reason: 'UNSUPPORTED_MEDIA_TYPE' }],
];

function at(field: string): Partial<Answer> {
  return { status: 400, reason: 'UPLOAD_MISMATCH', field: `fulfillment.${field}` };
}
function inData(message: RegExp): Partial<Answer> {
  return { status: 400, reason: 'UPLOAD_MISMATCH', field: 'data', ...saying(message) };
}
function certificate(message: RegExp): Partial<Answer> {
  return {
    status: 400,
    reason: 'CERTIFICATE_IS_INVALID',
    field: 'fulfillment.certificate',
    ...saying(message),
  };
}
function saying(message: RegExp) {
  return { body: { error: expect.objectContaining({ message: expect.stringMatching(message) }) } };
}
function shuffleOf({ fulfillment }: TestUpload) {
  return fulfillment.protocolData.value as duchyMessages.Fulfillment_HonestMajorityShareShuffle;
}
function setSeed(upload: TestUpload, ciphertext: Uint8Array): void {
  shuffleOf(upload).secretSeed!.ciphertext = ciphertext;
}
function resealed(upload: TestUpload): TestUpload['afterSigning'] {
  const { ciphertext } = shuffleOf(upload).secretSeed!;
  return (signed) => {
    const place = Buffer.from(signed.message).indexOf(ciphertext);
    expect(place).toBeGreaterThan(0);
    return { ...signed, message: signed.message.with(place, signed.message[place]! ^ 1) };
  };
}
describe('an upload with one defect is rejected, and nothing is stored:', () => {
  let computation: TestComputation;
  beforeAll(async () => {
    computation = await world.computation();
    const party = 'dataProviders/streamly';
    const { root, keysets, certificatePem } = world.identities[party]!;
    const { certificates } = world.exchange;
    certificates.set(`${party}/certificates/revoked`, {
      x509Der: derOf(certificatePem),
      revocationState: 'REVOKED',
    });
    const about = { party, commonName: party, days: 10 };
    const stranger = await createIdentity({ ...about, now: Date.now() });
    certificates.set(`${party}/certificates/untrusted`, { x509Der: derOf(stranger.certificatePem) });
    const old = await createIdentity({ ...about, now: Date.now() - 1e9, root, keysets });
    certificates.set(`${party}/certificates/expired`, { x509Der: derOf(old.certificatePem) });
  });

  test.each(SPOILED)('%s', async (_what, spoil, expected) => {
    const upload = await makeUpload(world, computation);
    await spoil(upload, computation);
    const reports = world.exchange.reports.length;
    expect(await sendUpload(world, upload)).toMatchObject(expected);
    expect(await world.kept(computation.id)).toEqual({ uploads: 0, messages: 0, blobs: 0 });
    expect(world.exchange.reports).toHaveLength(reports);
  });

  test('a valid upload is accepted after all rejected ones', async () => {
    expect(await sendUpload(world, await makeUpload(world, computation))).toMatchObject({ status: 200 });
  });
});

describe('an upload is rejected', () => {
  test('by a duchy that does not fulfill the requisition', async () => {
    const computation = await world.computation('WAIT_TO_START', 'duchies/beta');
    const upload = await makeUpload(world, computation);
    expect(await sendUpload(world, upload)).toMatchObject(at('duchy'));
    upload.fulfillment.duchy = 'duchies/alpha';
    expect(await sendUpload(world, upload)).toMatchObject(at('duchy'));
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });

  test('with STAGE_OUT_OF_ORDER before this duchy has set its parameters', async () => {
    const computation = await world.computation('INITIALIZED');
    const answer = await sendUpload(world, await makeUpload(world, computation));
    expect(answer).toMatchObject({ status: 409, reason: 'STAGE_OUT_OF_ORDER' });
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });

  test('for a refused requisition', async () => {
    const computation = await world.computation();
    computation.view.requisitions[0]!.state = 'REFUSED';
    await updateView(world.database.db, computation.id, computation.view);
    const answer = await sendUpload(world, await makeUpload(world, computation));
    expect(answer).toMatchObject({ status: 400, reason: 'REQUISITION_STATE_ILLEGAL' });
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });

  test('for a computation that has ended', async () => {
    const computation = await world.computation();
    const upload = await makeUpload(world, computation);
    await endComputation(world.database.db, computation.id, { outcome: 'CANCELLED' });
    const answer = await sendUpload(world, upload);
    expect(answer).toMatchObject({ status: 400, reason: 'COMPUTATION_STATE_ILLEGAL' });
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });

  test('with UNAVAILABLE while the exchange is down', async () => {
    const computation = await world.computation();
    world.exchange.isDown = true;
    const answer = await sendUpload(world, await makeUpload(world, computation));
    world.exchange.isDown = false;
    expect(answer).toMatchObject({ status: 503, reason: 'UNAVAILABLE' });
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });
});
