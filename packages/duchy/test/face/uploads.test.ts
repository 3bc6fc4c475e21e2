/** Uploads: what is right is stored and reported once; whatever is wrong is rejected where it enters, and nothing is kept. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { createIdentity } from '@measurement-exchange/sdk/identity';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { endComputation, readBlob, updateView, uploadOf } from '../../src/database/index.ts';
import { MODULUS, type TestComputation } from '../view.ts';
import {
  type Answer,
  derOf,
  type FaceWorld,
  form,
  makeMessage,
  makeUpload,
  post,
  REGISTERS,
  randomShare,
  sendMessage,
  sendUpload,
  sha256,
  signedFulfillment,
  startFaceWorld,
  type TestUpload,
  withData,
} from './world.ts';

let world: FaceWorld;
beforeAll(async () => {
  world = await startFaceWorld();
});
afterAll(() => world.stop());

const flip = (bytes: Uint8Array) => bytes.map((byte, i) => (i === 0 ? byte ^ 1 : byte));

describe('an upload that is right', () => {
  test('is stored whole, reported, and then answered', async () => {
    const computation = await world.computation();
    const upload = makeUpload(world, computation);
    expect(await sendUpload(world, upload)).toMatchObject({
      status: 200,
      body: { requisition: upload.requisition, computation: computation.id, state: 'FULFILLED' },
    });
    const stored = await uploadOf(world.database.db, upload.requisition);
    expect(stored).toMatchObject({ nonce: computation.nonces[0], registerCount: REGISTERS });
    expect(stored!.reportedTime).not.toBeNull();
    const data = Buffer.concat(await Array.fromAsync(readBlob(world.database.db, stored!.blob)));
    expect(data.equals(upload.data)).toBe(true);
    expect(world.exchange.reports).toContain(upload.requisition);
  });

  test('is answered the same when it is sent again, with another signature and after the end', async () => {
    const computation = await world.computation();
    const upload = makeUpload(world, computation);
    const first = await sendUpload(world, upload);
    expect(await sendUpload(world, upload)).toEqual(first);
    await endComputation(world.database.db, computation.id, { outcome: 'SUCCEEDED' });
    expect(await sendUpload(world, upload)).toEqual(first);
    expect(await world.kept(computation.id)).toEqual({ uploads: 1, messages: 0, blobs: 1 });
    expect(world.exchange.reports.filter((r) => r === upload.requisition)).toHaveLength(1);
  });

  test('stays when other bytes come for the same requisition', async () => {
    const computation = await world.computation();
    const upload = makeUpload(world, computation);
    await sendUpload(world, upload);
    const other = makeUpload(world, computation);
    expect(await sendUpload(world, other)).toMatchObject({ status: 409, reason: 'UPLOAD_ALREADY_EXISTS' });
    // The same message with other bytes is no repetition.
    const spoiled = { ...upload, data: other.data };
    expect(await sendUpload(world, spoiled)).toMatchObject({ reason: 'UPLOAD_MISMATCH', field: 'data' });
    expect(await world.kept(computation.id)).toEqual({ uploads: 1, messages: 0, blobs: 1 });
  });

  test('is stored once when it comes several times at once', async () => {
    const computation = await world.computation();
    const upload = makeUpload(world, computation);
    const answers = await Promise.all(Array.from({ length: 6 }, () => sendUpload(world, upload)));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    for (const answer of answers) if (answer.status !== 200) expect(answer.reason).toBe('RATE_LIMITED');
    expect(await world.kept(computation.id)).toEqual({ uploads: 1, messages: 0, blobs: 1 });
  });

  test('is stored when the exchange cannot be told, and reported when it is sent again', async () => {
    const computation = await world.computation();
    const upload = makeUpload(world, computation);
    const { client } = world.duchy;
    const { getComputation } = client;
    Object.assign(client, { getComputation: () => Promise.reject(new Error('dies here')) });
    expect(await sendUpload(world, upload)).toMatchObject({ status: 503, reason: 'UNAVAILABLE' });
    Object.assign(client, { getComputation });
    expect((await uploadOf(world.database.db, upload.requisition))!.reportedTime).toBeNull();
    expect(await sendUpload(world, upload)).toMatchObject({ status: 200 });
    expect((await uploadOf(world.database.db, upload.requisition))!.reportedTime).not.toBeNull();
    expect(await world.kept(computation.id)).toEqual({ uploads: 1, messages: 0, blobs: 1 });
  });

  test('of many chunks is stored as it comes', async () => {
    const computation = await world.computation();
    const registers = Number(process.env.MEX_UPLOAD_REGISTERS ?? 3_000_000);
    await world.database.query('ALTER TABLE computations DISABLE TRIGGER USER');
    await world.database.query('UPDATE computations SET register_count = $1 WHERE id = $2', [
      registers,
      computation.id,
    ]);
    await world.database.query('ALTER TABLE computations ENABLE TRIGGER USER');
    const upload = makeUpload(world, computation);
    withData(upload, randomShare(registers));
    upload.fulfillment.registerCount = BigInt(registers);
    upload.fulfillment.dataLength = BigInt(upload.data.length);
    expect(await sendUpload(world, upload)).toMatchObject({ status: 200 });
    const [{ chunks }] = (await world.database.query(
      'SELECT count(*)::int AS chunks FROM blob_chunks c JOIN blobs b ON b.id = c.blob WHERE b.computation = $1',
      [computation.id],
    )) as [{ chunks: number }];
    expect(chunks).toBe(Math.ceil(upload.data.length / 2 ** 20));
  });
});

/** What is spoiled, how, and what the response says about it. */
type Spoil = (upload: TestUpload, computation: TestComputation) => void | Promise<void>;
// biome-ignore format: a table, one row per line
const SPOILED: [what: string, spoil: Spoil, expected: Partial<Answer>][] = [
  ['purpose', (u) => { u.fulfillment.purpose = 'mex.contract.StageMessage'; }, at('purpose')],
  ['requisition', (u, c) => { u.fulfillment.requisition = c.view.requisitions[1]!.name; }, at('requisition')],
  ['duchy', (u) => { u.fulfillment.duchy = 'duchies/beta'; }, at('duchy')],
  ['fingerprint', (u) => { u.fulfillment.requisitionFingerprint = flip(u.fulfillment.requisitionFingerprint); }, at('requisitionFingerprint')],
  ['empty fingerprint', (u) => { u.fulfillment.requisitionFingerprint = new Uint8Array(); }, at('requisitionFingerprint')],
  ['nonce', (u) => { u.fulfillment.nonce += 1n; }, { status: 400, reason: 'NONCE_MISMATCH', field: 'fulfillment.nonce' }],
  ['nonce of another provider', (u, c) => { u.fulfillment.nonce = c.nonces[1]!; }, { reason: 'NONCE_MISMATCH' }],
  ['protocol', (u) => { u.fulfillment.protocol = 'liquidLegionsV2'; }, at('protocol')],
  ['population', (u) => { u.fulfillment.populationFingerprint = flip(u.fulfillment.populationFingerprint); }, at('populationFingerprint')],
  ['register count', (u) => { u.fulfillment.registerCount -= 1n; }, at('registerCount')],
  ['a longer vector', (u) => { withData(u, randomShare(REGISTERS + 1)); u.fulfillment.registerCount += 1n; u.fulfillment.dataLength += 1n; }, at('registerCount')],
  ['data length', (u) => { u.fulfillment.dataLength += 1n; }, at('dataLength')],
  ['negative data length', (u) => { u.fulfillment.dataLength = -1n; }, at('dataLength')],
  ['digest', (u) => { u.fulfillment.dataSha256 = flip(u.fulfillment.dataSha256); }, inData(/SHA-256/)],
  ['short digest', (u) => { u.fulfillment.dataSha256 = u.fulfillment.dataSha256.subarray(1); }, at('dataSha256')],
  ['a byte of the data', (u) => { const last = u.data.length - 1; u.data = u.data.map((b, i) => (i === last ? (b + 1) % MODULUS : b)); }, inData(/SHA-256/)],
  ['a value that is the modulus', (u) => { withData(u, u.data.with(20, MODULUS)); }, inData(/at register 17 /)],
  ['a last value above the modulus', (u) => { withData(u, u.data.with(u.data.length - 1, 255)); }, inData(/at register 299 /)],
  ['another field', (u) => { withData(u, u.data.with(0, 0x12)); }, inData(/FrequencyVector/)],
  ['another count in the data', (u) => { withData(u, u.data.with(1, u.data[1]! ^ 1)); }, inData(/FrequencyVector of 300/)],
  ['data that is shorter', (u) => { u.data = u.data.subarray(0, -1); }, inData(/302 bytes, fewer/)],
  ['data that is longer', (u) => { u.data = Buffer.concat([u.data, Uint8Array.of(0)]); }, inData(/longer/)],
  ['no data', (u) => { u.data = new Uint8Array(); }, inData(/0 bytes, fewer/)],
  ['no seed', (u) => { u.fulfillment.protocolData = { case: undefined }; }, at('honestMajorityShareShuffle.secretSeed')],
  ['a seed of 10 kB', (u) => { setSeed(u, randomBytes(10_000)); }, at('honestMajorityShareShuffle.secretSeed')],
  ['another first worker', (u) => { shuffleOf(u).firstWorker = 'duchies/gamma'; }, at('honestMajorityShareShuffle.firstWorker')],
  ['another second worker', (u) => { shuffleOf(u).secondWorker = 'duchies/delta'; }, at('honestMajorityShareShuffle.secondWorker')],
  ['another aggregator', (u) => { shuffleOf(u).aggregator = 'duchies/delta'; }, at('honestMajorityShareShuffle.aggregator')],
  ['no aggregator', (u) => { shuffleOf(u).aggregator = ''; }, at('honestMajorityShareShuffle.aggregator')],
  ['other noise', (u) => { shuffleOf(u).noiseMechanism = 'GEOMETRIC'; }, at('honestMajorityShareShuffle.noiseMechanism')],
  ['another ring', (u) => { shuffleOf(u).ringModulus = 113; }, at('honestMajorityShareShuffle.ringModulus')],
  ['a certificate of another provider', (u) => { u.fulfillment.certificate = 'dataProviders/chirper/certificates/1'; }, certificate(/no certificate of dataProviders\/streamly/)],
  ['a certificate of nobody', (u) => { u.fulfillment.certificate = 'dataProviders/streamly/certificates/9'; }, certificate(/does not exist/)],
  ['a revoked certificate', (u) => { u.fulfillment.certificate = 'dataProviders/streamly/certificates/revoked'; }, certificate(/REVOKED/)],
  ['a certificate of an unknown root', (u) => { u.fulfillment.certificate = 'dataProviders/streamly/certificates/untrusted'; }, certificate(/root/)],
  ['an expired certificate', (u) => { u.fulfillment.certificate = 'dataProviders/streamly/certificates/expired'; }, certificate(/expired/)],
  ["another provider's key", (u) => { u.privateKeyPem = world.identities['dataProviders/chirper']!.privateKeyPem; }, at('signature')],
  ["a duchy's key", (u) => { u.privateKeyPem = world.identities['duchies/beta']!.privateKeyPem; }, at('signature')],
  ['the signature', (u) => { u.afterSigning = (s) => ({ ...s, signature: s.signature.with(-1, s.signature.at(-1)! ^ 1) }); }, at('signature')],
  ['the seed after signing', (u) => { u.afterSigning = resealed(u); }, at('signature')],
  ['a requisition of nobody', (u) => { u.requisition = 'dataProviders/streamly/requisitions/none'; u.fulfillment.requisition = u.requisition; }, { status: 404, reason: 'REQUISITION_NOT_FOUND' }],
  ['JSON', (u) => { u.body = (_json, data) => form('fulfillment')('{"fulfillment": ', data); }, { status: 400, reason: 'MALFORMED_JSON' }],
  ['a member too many', (u) => { u.body = (json, data) => form('fulfillment')(json.replace('{', '{"token": "x", '), data); }, { reason: 'INVALID_FIELD_VALUE', field: 'token' }],
  ['a message that is none', (u) => { u.afterSigning = (s) => ({ ...s, message: Uint8Array.of(0xff, 0xff) }); }, { reason: 'INVALID_FIELD_VALUE', field: 'fulfillment.message' }],
  ['no part data', (u) => { u.body = (json) => { const body = new FormData(); body.append('fulfillment', json); return body; }; }, { reason: 'REQUIRED_FIELD_NOT_SET', field: 'data' }],
  ['no part fulfillment', (u) => { u.body = (_json, data) => { const body = new FormData(); body.append('data', new Blob([Uint8Array.from(data)])); return body; }; }, { reason: 'MALFORMED_REQUEST' }],
  ['data before fulfillment', (u) => { u.body = (json, data) => { const body = new FormData(); body.append('data', new Blob([Uint8Array.from(data)])); body.append('fulfillment', json); return body; }; }, { reason: 'MALFORMED_REQUEST' }],
  ['a third part', (u) => { u.body = (json, data) => { const body = form('fulfillment')(json, data); body.append('more', 'x'); return body; }; }, { reason: 'MALFORMED_REQUEST' }],
  ['data twice', (u) => { u.body = (json, data) => { const body = form('fulfillment')(json, data); body.append('data', new Blob(['x'])); return body; }; }, { reason: 'MALFORMED_REQUEST' }],
  ['a part of 100 kB', (u) => { u.body = (json, data) => form('fulfillment')(`${json}${' '.repeat(100_000)}`, data); }, { status: 413, reason: 'BODY_TOO_LARGE' }],
  ['a body that breaks off', (u) => { u.body = (json, data) => unended(json, data); u.headers = { 'content-type': 'multipart/form-data; boundary=b' }; }, { reason: 'MALFORMED_REQUEST' }],
  ['no boundary', (u) => { u.body = (json) => json; u.headers = { 'content-type': 'multipart/form-data' }; }, { reason: 'UNSUPPORTED_MEDIA_TYPE' }],
  ['a body of JSON', (u) => { u.body = (json) => json; u.headers = { 'content-type': 'application/json' }; }, { status: 415, reason: 'UNSUPPORTED_MEDIA_TYPE' }],
  ['compression', (u) => { u.headers = { 'content-encoding': 'gzip' }; }, { status: 415, reason: 'UNSUPPORTED_MEDIA_TYPE' }],
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
  return fulfillment.protocolData.value!;
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
function unended(json: string, data: Uint8Array): Buffer<ArrayBuffer> {
  const header = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n`;
  return Buffer.concat([Buffer.from(`${header('fulfillment')}${json}\r\n${header('data')}`), data]);
}

describe('an upload with one thing wrong is rejected, and nothing is kept:', () => {
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
    const upload = makeUpload(world, computation);
    await spoil(upload, computation);
    const reports = world.exchange.reports.length;
    expect(await sendUpload(world, upload)).toMatchObject(expected);
    expect(await world.kept(computation.id)).toEqual({ uploads: 0, messages: 0, blobs: 0 });
    expect(world.exchange.reports).toHaveLength(reports);
  });

  test('after all of that the right one is taken', async () => {
    expect(await sendUpload(world, makeUpload(world, computation))).toMatchObject({ status: 200 });
  });
});

describe('an upload is not taken', () => {
  test('by the duchy that does not fulfill it', async () => {
    const computation = await world.computation('WAIT_TO_START', 'duchies/beta');
    const upload = makeUpload(world, computation);
    expect(await sendUpload(world, upload)).toMatchObject(at('duchy'));
    upload.fulfillment.duchy = 'duchies/alpha';
    expect(await sendUpload(world, upload)).toMatchObject(at('duchy'));
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });

  test('before this duchy has set its parameters: retry', async () => {
    const computation = await world.computation('INITIALIZED');
    const answer = await sendUpload(world, makeUpload(world, computation));
    expect(answer).toMatchObject({ status: 409, reason: 'STAGE_OUT_OF_ORDER' });
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });

  test('for a requisition that is refused', async () => {
    const computation = await world.computation();
    computation.view.requisitions[0]!.state = 'REFUSED';
    await updateView(world.database.db, computation.id, computation.view);
    const answer = await sendUpload(world, makeUpload(world, computation));
    expect(answer).toMatchObject({ status: 400, reason: 'REQUISITION_STATE_ILLEGAL' });
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });

  test('for a computation that has ended', async () => {
    const computation = await world.computation();
    await endComputation(world.database.db, computation.id, { outcome: 'CANCELLED' });
    const answer = await sendUpload(world, makeUpload(world, computation));
    expect(answer).toMatchObject({ status: 400, reason: 'COMPUTATION_STATE_ILLEGAL' });
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });

  test('while the exchange cannot be asked for the certificate', async () => {
    const computation = await world.computation();
    world.exchange.isDown = true;
    const answer = await sendUpload(world, makeUpload(world, computation));
    world.exchange.isDown = false;
    expect(answer).toMatchObject({ status: 503, reason: 'UNAVAILABLE' });
    expect(await world.kept(computation.id)).toMatchObject({ uploads: 0, blobs: 0 });
  });
});

describe('senders that are slow or many', () => {
  /** Sends the head, the JSON and some of the data, and then nothing. */
  async function stall(
    url: string,
    upload: TestUpload,
  ): Promise<{ hangUp(): void; response: Promise<string> }> {
    const json = await signedFulfillment(upload);
    const body = unended(json, upload.data.subarray(0, 50));
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    const head = `POST /v2alpha/${upload.requisition}:fulfill HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: ${body.length + 1000}\r\n\r\n`;
    socket.write(Buffer.concat([Buffer.from(head), body]));
    const chunks: Buffer[] = [];
    const response = new Promise<string>((resolve) => {
      socket.on('data', (chunk) => chunks.push(chunk));
      socket.on('error', () => {});
      socket.on('close', () => resolve(Buffer.concat(chunks).toString()));
    });
    return { hangUp: () => socket.destroy(), response };
  }
  const writing = async (id: string, count: number) =>
    expect.poll(async () => (await world.kept(id)).blobs).toBe(count);

  test('hold places of their own only, which are free again when they hang up', async () => {
    const computations = [];
    for (let i = 0; i < 3; i++) computations.push(await world.computation());
    const stalled = [];
    for (const each of computations.slice(0, 2)) {
      stalled.push(await stall(world.url, makeUpload(world, each)));
      await writing(each.id, 1);
    }
    const third = makeUpload(world, computations[2]!);
    expect(await sendUpload(world, third)).toMatchObject({ status: 429, reason: 'RATE_LIMITED' });
    expect(await sendUpload(world, makeUpload(world, computations[2]!, 1))).toMatchObject({ status: 200 });
    for (const each of stalled) each.hangUp();
    for (const each of computations.slice(0, 2)) await writing(each.id, 0);
    expect(await sendUpload(world, third)).toMatchObject({ status: 200 });
  });

  test('have 128 connections at most from one address, and others are served', async () => {
    const { hostname, port } = new URL(world.url);
    const sockets = Array.from({ length: 140 }, () => connect(Number(port), hostname));
    let closed = 0;
    for (const socket of sockets) socket.on('error', () => {}).on('close', () => closed++);
    await expect.poll(() => closed).toBeGreaterThanOrEqual(12);
    // Elsewhere there may be one address on the loopback.
    if (process.platform === 'linux') {
      const other = connect({ port: Number(port), host: hostname, localAddress: '127.0.0.2' });
      other.write('GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n');
      expect(String((await once(other, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
    }
    for (const socket of sockets) socket.destroy();
    const isServed = () =>
      fetch(`${world.url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    await expect.poll(isServed).toBe(true);
  });

  test('of uploads do not keep the messages of other duchies out', async () => {
    const crowded = await startFaceWorld('duchies/alpha', { uploads: 1 });
    try {
      const [computation, waiting] = [
        await crowded.computation(),
        await crowded.computation('WAIT_ON_SHUFFLE_INPUT_PHASE_TWO'),
      ];
      const stalled = await stall(crowded.url, makeUpload(crowded, computation));
      await expect.poll(async () => (await crowded.kept(computation.id)).blobs).toBe(1);
      const about = { stage: 'SHUFFLE_PHASE_INPUT_TWO', sender: 'duchies/beta' };
      expect((await sendMessage(crowded, makeMessage(crowded, waiting, about))).status).toBe(200);
      stalled.hangUp();
    } finally {
      await crowded.stop();
    }
  });

  test('whose requests are rejected again and again are not looked at for a while', async () => {
    const strict = await startFaceWorld('duchies/alpha', { rejectedPerMinute: 3 });
    try {
      const computation = await strict.computation();
      const spoiled = makeUpload(strict, computation);
      spoiled.fulfillment.nonce += 1n;
      const reasons = [];
      for (let i = 0; i < 4; i++) reasons.push((await sendUpload(strict, spoiled)).reason);
      expect(reasons).toEqual(['NONCE_MISMATCH', 'NONCE_MISMATCH', 'NONCE_MISMATCH', 'RATE_LIMITED']);
      expect((await fetch(`${strict.url}/readyz`)).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });

  test('are given up on, and nothing of what they sent is kept', async () => {
    const slow = await startFaceWorld('duchies/alpha', { uploadSeconds: 1 });
    try {
      const computation = await slow.computation();
      const { response } = await stall(slow.url, makeUpload(slow, computation));
      expect(await response).toMatch(/^HTTP\/1\.1 408 [\s\S]*REQUEST_TIMEOUT/);
      await expect.poll(() => slow.kept(computation.id)).toEqual({ uploads: 0, messages: 0, blobs: 0 });
    } finally {
      await slow.stop();
    }
  });
});

test('a face that stops takes what is under way, and no more', async () => {
  const stopping = await startFaceWorld();
  const computation = await stopping.computation();
  const upload = makeUpload(stopping, computation);
  const json = await signedFulfillment(upload);
  const whole = Buffer.concat([unended(json, upload.data), Buffer.from('\r\n--b--\r\n')]);
  const { hostname, port } = new URL(stopping.url);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST /v2alpha/${upload.requisition}:fulfill HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: ${whole.length}\r\n\r\n`,
  );
  socket.write(whole.subarray(0, -50));
  await expect.poll(async () => (await stopping.kept(computation.id)).blobs).toBe(1);
  const stopped = stopping.stopFace();
  await expect(fetch(`${stopping.url}/healthz`)).rejects.toThrow();
  socket.write(whole.subarray(-50));
  const [response] = (await once(socket, 'data')) as [Buffer];
  expect(response.toString()).toMatch(/^HTTP\/1\.1 200 [\s\S]*connection: close[\s\S]*"FULFILLED"/i);
  await stopped;
  expect(await stopping.kept(computation.id)).toEqual({ uploads: 1, messages: 0, blobs: 1 });
  await stopping.stop();
});

test('nothing that was sent is in the log', async () => {
  const computation = await world.computation();
  const upload = makeUpload(world, computation);
  await sendUpload(world, upload);
  const spoiled = makeUpload(world, computation);
  await sendUpload(world, spoiled);
  const lines = world.logs.join('');
  expect(lines).toContain(upload.requisition);
  for (const { fulfillment, data } of [upload, spoiled]) {
    for (const secret of [
      fulfillment.dataSha256,
      sha256(data),
      data.subarray(0, 20),
      fulfillment.requisitionFingerprint,
    ]) {
      expect(lines).not.toContain(Buffer.from(secret).toString('base64').slice(0, 20));
      expect(lines).not.toContain(Buffer.from(secret).toString('hex'));
    }
    expect(lines).not.toContain(fulfillment.nonce.toString());
  }
});

describe('the face', () => {
  test('says that it is healthy, ready, and how it is', async () => {
    expect(await (await fetch(`${world.url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect((await fetch(`${world.url}/readyz`)).status).toBe(200);
    const metrics = await (await fetch(`${world.url}/metrics`)).text();
    expect(metrics).toMatch(/mex_duchy_requests_total\{operation="fulfill",code="OK",reason="OK"\} [1-9]/);
    expect(metrics).toMatch(/mex_duchy_computations\{role="FIRST_WORKER",stage="WAIT_TO_START"\} [1-9]/);
  });

  test.each([
    ['POST', '/v2alpha/dataProviders/a/requisitions/b', 404, 'ROUTE_NOT_FOUND'],
    ['POST', '/v2alpha/dataProviders/a/requisitions/b:refuse', 404, 'ROUTE_NOT_FOUND'],
    ['POST', '/v2alpha/dataProviders/a%2Frequisitions/b:fulfill', 404, 'ROUTE_NOT_FOUND'],
    ['POST', '/v2alpha/dataProviders/a/requisitions/b%3Afulfill', 404, 'ROUTE_NOT_FOUND'],
    ['POST', '/v2alpha/dataProviders/a/requisitions/b:fulfill?x=1', 404, 'ROUTE_NOT_FOUND'],
    ['POST', '/v2alpha/duchies/a/computations/b:advance', 404, 'ROUTE_NOT_FOUND'],
    ['POST', '/elsewhere', 404, 'ROUTE_NOT_FOUND'],
    ['GET', '/v2alpha/computations/b:advance', 405, 'METHOD_NOT_ALLOWED'],
    ['PUT', '/v2alpha/dataProviders/a/requisitions/b:fulfill', 405, 'METHOD_NOT_ALLOWED'],
    ['GET', `/v2alpha/${'x'.repeat(3000)}`, 414, 'URI_TOO_LONG'],
  ])('%s %s is %d %s', async (method, path, status, reason) => {
    const response = await fetch(`${world.url}${path}`, { method });
    const { error } = (await response.json()) as { error: { details: { reason: string }[] } };
    expect([response.status, error.details[0]!.reason]).toEqual([status, reason]);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{24}$/);
  });

  test('has no place for a body without parts', async () => {
    const upload = makeUpload(world, await world.computation());
    const url = `${world.url}/v2alpha/${upload.requisition}:fulfill`;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expect(await post(url, 'nothing', headers)).toMatchObject({ status: 400, reason: 'MALFORMED_REQUEST' });
    expect(await post(url, '--b--\r\n', headers)).toMatchObject({ status: 400 });
  });
});
