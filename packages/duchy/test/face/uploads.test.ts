/**
 * Tests valid uploads and the HTTP server that receives them. Each upload is stored and reported once, regardless of
 * the number of senders and their speed.
 */

import { once } from 'node:events';
import { connect } from 'node:net';
import { listenOperations } from '@measurement-exchange/server/operations';
import { rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHUNK_BYTES, endComputation, readBlob, uploadOf } from '../../src/database/index.ts';
import {
  type FaceWorld,
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
  unended,
} from './world.ts';

let world: FaceWorld;
beforeAll(async () => {
  world = await startFaceWorld();
});
afterAll(() => world.stop());

describe('a valid upload', () => {
  test('is stored completely and reported before the duchy responds', async () => {
    const computation = await world.computation();
    const upload = await makeUpload(world, computation);
    expect(await sendUpload(world, upload)).toMatchObject({
      status: 200,
      body: { requisition: upload.requisition, computation: computation.id, state: 'FULFILLED' },
    });
    const stored = await uploadOf(world.database.db, upload.requisition);
    expect(stored).toMatchObject({ nonce: computation.nonces[0], registerCount: REGISTERS });
    expect(stored!.reportedTime).not.toBeNull();
    const data = Buffer.concat(await Array.fromAsync(readBlob(world.database.db, stored!.blob)));
    expect(data.equals(upload.share)).toBe(true);
    expect(world.exchange.reports).toContain(upload.requisition);
  });

  test('gets the same response if it is repeated, with a new signature or after the computation has ended', async () => {
    const computation = await world.computation();
    const upload = await makeUpload(world, computation);
    const first = await sendUpload(world, upload);
    expect(await sendUpload(world, upload)).toEqual(first);
    await endComputation(world.database.db, computation.id, { outcome: 'SUCCEEDED' });
    expect(await sendUpload(world, upload)).toEqual(first);
    expect(await world.kept(computation.id)).toEqual({ uploads: 1, messages: 0, blobs: 1 });
    expect(world.exchange.reports.filter((r) => r === upload.requisition)).toHaveLength(1);
  });

  test('is not replaced by a different upload for the same requisition', async () => {
    const computation = await world.computation();
    const upload = await makeUpload(world, computation);
    await sendUpload(world, upload);
    const other = await makeUpload(world, computation);
    expect(await sendUpload(world, other)).toMatchObject({ status: 409, reason: 'UPLOAD_ALREADY_EXISTS' });
    // The same message with different data does not count as a repetition.
    const spoiled = { ...upload, data: other.data };
    expect(await sendUpload(world, spoiled)).toMatchObject({ reason: 'UPLOAD_MISMATCH', field: 'data' });
    expect(await world.kept(computation.id)).toEqual({ uploads: 1, messages: 0, blobs: 1 });
  });

  test('is stored once if it is sent several times concurrently', async () => {
    const computation = await world.computation();
    const upload = await makeUpload(world, computation);
    const answers = await Promise.all(Array.from({ length: 6 }, () => sendUpload(world, upload)));
    expect(answers.filter(({ status }) => status === 200).length).toBeGreaterThan(0);
    for (const answer of answers) if (answer.status !== 200) expect(answer.reason).toBe('RATE_LIMITED');
    expect(await world.kept(computation.id)).toEqual({ uploads: 1, messages: 0, blobs: 1 });
  });

  test('is stored if it cannot be reported to the exchange, and reported when it is sent again', async () => {
    const computation = await world.computation();
    const upload = await makeUpload(world, computation);
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

  test('is stored in chunks of CHUNK_BYTES', async () => {
    const computation = await world.computation();
    const registers = rounds(3_000_000, 600_000);
    await world.database.query('ALTER TABLE computations DISABLE TRIGGER USER');
    await world.database.query('UPDATE computations SET register_count = $1 WHERE id = $2', [
      registers,
      computation.id,
    ]);
    await world.database.query('ALTER TABLE computations ENABLE TRIGGER USER');
    const upload = await makeUpload(world, computation);
    await upload.seal(randomShare(registers));
    upload.fulfillment.registerCount = BigInt(registers);
    upload.fulfillment.dataLength = BigInt(upload.data.length);
    expect(await sendUpload(world, upload)).toMatchObject({ status: 200 });
    const [{ chunks }] = (await world.database.query(
      'SELECT count(*)::int AS chunks FROM blob_chunks c JOIN blobs b ON b.id = c.blob WHERE b.computation = $1',
      [computation.id],
    )) as [{ chunks: number }];
    expect(chunks).toBe(Math.ceil(upload.share.length / CHUNK_BYTES));
  });
});

describe('slow or numerous senders', () => {
  /** Sends the headers, the JSON and a part of the data, and then stops. */
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

  test('exhaust only the limit of their own provider, and free it when they disconnect', async () => {
    const computations = [];
    for (let i = 0; i < 3; i++) computations.push(await world.computation());
    const stalled = [];
    for (const each of computations.slice(0, 2)) {
      stalled.push(await stall(world.url, await makeUpload(world, each)));
      await writing(each.id, 1);
    }
    const third = await makeUpload(world, computations[2]!);
    expect(await sendUpload(world, third)).toMatchObject({ status: 429, reason: 'RATE_LIMITED' });
    expect(await sendUpload(world, await makeUpload(world, computations[2]!, 1))).toMatchObject({
      status: 200,
    });
    for (const each of stalled) each.hangUp();
    for (const each of computations.slice(0, 2)) await writing(each.id, 0);
    expect(await sendUpload(world, third)).toMatchObject({ status: 200 });
  });

  test('are limited to 128 connections per address, and other addresses are still served', async () => {
    const { hostname, port } = new URL(world.url);
    const sockets = Array.from({ length: 140 }, () => connect(Number(port), hostname));
    let closed = 0;
    for (const socket of sockets) socket.on('error', () => {}).on('close', () => closed++);
    await expect.poll(() => closed).toBeGreaterThanOrEqual(12);
    // Run this part only on Linux, because other systems may have only one loopback address.
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

  test('of uploads do not block messages of other duchies', async () => {
    const crowded = await startFaceWorld('duchies/alpha', { uploads: 1 });
    try {
      const [computation, waiting] = [
        await crowded.computation(),
        await crowded.computation('WAIT_ON_SHUFFLE_INPUT_PHASE_TWO'),
      ];
      const stalled = await stall(crowded.url, await makeUpload(crowded, computation));
      await expect.poll(async () => (await crowded.kept(computation.id)).blobs).toBe(1);
      const about = { stage: 'SHUFFLE_PHASE_INPUT_TWO', sender: 'duchies/beta' };
      expect((await sendMessage(crowded, await makeMessage(crowded, waiting, about))).status).toBe(200);
      stalled.hangUp();
    } finally {
      await crowded.stop();
    }
  });

  test('get RATE_LIMITED after rejectedPerMinute rejected requests', async () => {
    const strict = await startFaceWorld('duchies/alpha', { rejectedPerMinute: 3 });
    try {
      const computation = await strict.computation();
      const spoiled = await makeUpload(strict, computation);
      spoiled.fulfillment.nonce += 1n;
      const reasons = [];
      for (let i = 0; i < 4; i++) reasons.push((await sendUpload(strict, spoiled)).reason);
      expect(reasons).toEqual(['NONCE_MISMATCH', 'NONCE_MISMATCH', 'NONCE_MISMATCH', 'RATE_LIMITED']);
      expect((await fetch(`${strict.url}/healthz`)).status).toBe(200);
    } finally {
      await strict.stop();
    }
  });

  test('behind a trusted proxy are rate-limited by the client address in x-forwarded-for', async () => {
    const proxied = await startFaceWorld('duchies/alpha', { rejectedPerMinute: 2 }, ['127.0.0.0/8']);
    try {
      const computation = await proxied.computation();
      const send = async (client: string, spoil: boolean) => {
        const upload = await makeUpload(proxied, computation);
        if (spoil) upload.fulfillment.nonce += 1n;
        upload.headers = { 'x-forwarded-for': client };
        return (await sendUpload(proxied, upload)).reason;
      };
      const reasons = [];
      for (let i = 0; i < 20; i++) reasons.push(await send('192.0.2.1', true));
      expect(reasons.filter((reason) => reason === 'NONCE_MISMATCH')).toHaveLength(2);
      expect(reasons.filter((reason) => reason === 'RATE_LIMITED')).toHaveLength(18);
      expect(await send('192.0.2.2', true)).toBe('NONCE_MISMATCH');
      expect(await send('192.0.2.2', false)).toBeUndefined();
    } finally {
      await proxied.stop();
    }
  });

  test('get REQUEST_TIMEOUT after uploadSeconds, and nothing that they sent is stored', async () => {
    const slow = await startFaceWorld('duchies/alpha', { uploadSeconds: 1 });
    try {
      const computation = await slow.computation();
      const { response } = await stall(slow.url, await makeUpload(slow, computation));
      expect(await response).toMatch(/^HTTP\/1\.1 408 [\s\S]*REQUEST_TIMEOUT/);
      await expect.poll(() => slow.kept(computation.id)).toEqual({ uploads: 0, messages: 0, blobs: 0 });
    } finally {
      await slow.stop();
    }
  });
});

test('bytes after the end of an upload do not change its response', async () => {
  const computation = await world.computation();
  const upload = await makeUpload(world, computation);
  const form = `${unended(await signedFulfillment(upload), upload.data).toString('latin1')}\r\n--b--\r\n`;
  const { hostname, port } = new URL(world.url);
  const socket = connect(Number(port), hostname);
  const head = `POST /v2alpha/${upload.requisition}:fulfill HTTP/1.1\r\nhost: x\r\ncontent-type: multipart/form-data; boundary=b\r\ncontent-length: ${form.length}\r\n\r\n`;
  socket.write(`${head}${form}garbage\r\n\r\n`, 'latin1');
  const response = Buffer.concat(await Array.fromAsync(socket)).toString();
  expect(response.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200']);
  expect(await world.kept(computation.id)).toMatchObject({ uploads: 1 });
});

test('a stopping HTTP server completes a running upload, and accepts no new connections', async () => {
  const stopping = await startFaceWorld();
  const computation = await stopping.computation();
  const upload = await makeUpload(stopping, computation);
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

test('the log contains no digests, data, fingerprints or nonces of uploads', async () => {
  const computation = await world.computation();
  const upload = await makeUpload(world, computation);
  await sendUpload(world, upload);
  const spoiled = await makeUpload(world, computation);
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

describe('the HTTP server', () => {
  test('serves /healthz publicly, and /readyz and /metrics only on the operations port', async () => {
    expect(await (await fetch(`${world.url}/healthz`)).json()).toEqual({ status: 'ok' });
    for (const page of ['readyz', 'metrics']) {
      expect((await fetch(`${world.url}/${page}`)).status).toBe(404);
    }
    const draining = new AbortController();
    const { db, metrics: registry } = world.duchy;
    const isReady = async () => !draining.signal.aborted && db.isReachable();
    const operations = await listenOperations({ host: '127.0.0.1', port: 0, isReady, metrics: registry });
    expect(await (await fetch(`${operations.url}/healthz`)).json()).toEqual({ status: 'ok' });
    expect(await (await fetch(`${operations.url}/readyz`)).json()).toEqual({ status: 'ready' });
    const metrics = await (await fetch(`${operations.url}/metrics`)).text();
    // Check that the operations port does not accept uploads.
    const path = `/v2alpha/${(await makeUpload(world, await world.computation())).requisition}:fulfill`;
    expect((await fetch(`${operations.url}${path}`, { method: 'POST' })).status).toBe(404);
    draining.abort();
    expect((await fetch(`${operations.url}/readyz`)).status).toBe(503);
    await operations.stop();
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
  ])('responds to %s %s with %d %s', async (method, path, status, reason) => {
    const response = await fetch(`${world.url}${path}`, { method });
    const { error } = (await response.json()) as { error: { details: { reason: string }[] } };
    expect([response.status, error.details[0]!.reason]).toEqual([status, reason]);
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f]{24}$/);
  });

  test('rejects a multipart body without parts', async () => {
    const upload = await makeUpload(world, await world.computation());
    const url = `${world.url}/v2alpha/${upload.requisition}:fulfill`;
    const headers = { 'content-type': 'multipart/form-data; boundary=b' };
    expect(await post(url, 'nothing', headers)).toMatchObject({ status: 400, reason: 'MALFORMED_REQUEST' });
    expect(await post(url, '--b--\r\n', headers)).toMatchObject({ status: 400 });
  });
});
