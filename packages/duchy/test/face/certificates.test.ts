/**
 * Tests the certificates of senders: the duchy requests few certificates from the exchange, and notices a revocation in
 * time.
 */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { sharedClient } from '../../src/client.ts';
import { type FaceWorld, makeMessage, makeUpload, sendMessage, sendUpload, startFaceWorld } from './world.ts';

let world: FaceWorld;
let exchange: FaceWorld['exchange'];
beforeAll(async () => {
  world = await startFaceWorld();
  exchange = world.exchange;
});
afterAll(() => world.stop());
beforeEach(() => {
  world.duchy.client = sharedClient(exchange.client, world.duchy.metrics);
  exchange.asked.length = 0;
});
afterEach(() => vi.restoreAllMocks());

/** Makes an upload for a new computation, and returns it with the name of its provider's certificate. */
async function freshUpload() {
  const upload = await makeUpload(world, await world.computation());
  return { upload, certificate: upload.fulfillment.certificate };
}

test('a certificate is requested from the exchange once, even by concurrent uploads', async () => {
  const uploads = await Promise.all(Array.from({ length: 2 }, freshUpload));
  const send = () => Promise.all(uploads.map(({ upload }) => sendUpload(world, upload)));
  for (const answers of [await send(), await send()]) {
    expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  }
  expect(exchange.asked).toEqual([uploads[0]!.certificate]);
});

test('a certificate is cached for 60 seconds, after which a revocation takes effect', async () => {
  const { upload, certificate } = await freshUpload();
  const [start, x509Der] = [performance.now(), exchange.certificates.get(certificate)!.x509Der];
  expect((await sendUpload(world, upload)).status).toBe(200);
  exchange.certificates.set(certificate, { x509Der, revocationState: 'REVOKED' });
  const now = vi.spyOn(performance, 'now');
  now.mockReturnValue(start + 59_000);
  expect((await sendUpload(world, upload)).status).toBe(200);
  now.mockReturnValue(start + 62_000);
  expect(await sendUpload(world, upload)).toMatchObject({
    reason: 'CERTIFICATE_IS_INVALID',
    field: 'fulfillment.certificate',
  });
  exchange.certificates.set(certificate, { x509Der });
});

test('a missing certificate is not cached: the upload succeeds after the certificate was created', async () => {
  const { upload, certificate } = await freshUpload();
  const created = exchange.certificates.get(certificate)!;
  upload.fulfillment.certificate = certificate.replace(/\w+$/, 'new');
  expect((await sendUpload(world, upload)).reason).toBe('CERTIFICATE_IS_INVALID');
  exchange.certificates.set(upload.fulfillment.certificate, created);
  expect((await sendUpload(world, upload)).status).toBe(200);
});

test('failures because the exchange is down do not count toward the limit of rejected uploads', async () => {
  const { upload } = await freshUpload();
  exchange.isDown = true;
  for (let i = 0; i < 12; i++) expect((await sendUpload(world, upload)).reason).toBe('UNAVAILABLE');
  exchange.isDown = false;
  expect((await sendUpload(world, upload)).status).toBe(200);
  expect(await world.duchy.metrics.text()).toMatch(
    /mex_duchy_exchange_failures_total\{operation="getCertificate",code="UNREACHABLE"\} 12/,
  );
});

test('many unknown certificates cause only 10 requests to the exchange, and do not block another computation', async () => {
  const { upload, certificate } = await freshUpload();
  const unknown = Array.from({ length: 40 }, (_, i) => {
    const fulfillment = { ...upload.fulfillment, certificate: certificate.replace(/\w+$/, `x${i}`) };
    return { ...upload, fulfillment };
  });
  const answers = await Promise.all(unknown.map((each) => sendUpload(world, each)));
  const reasons = new Set(answers.map(({ reason }) => reason));
  expect([...reasons].sort()).toEqual(['CERTIFICATE_IS_INVALID', 'RATE_LIMITED']);
  expect(exchange.asked).toHaveLength(10);
  const other = await freshUpload();
  expect(other.certificate).toBe(certificate);
  expect((await sendUpload(world, other.upload)).status).toBe(200);
});

test('an invalid certificate name is rejected without a request to the exchange, and with a short response', async () => {
  const { upload, certificate } = await freshUpload();
  for (const id of ['preferred', '../../parties', `${'x'.repeat(30_000)}`, '']) {
    upload.fulfillment.certificate = certificate.replace(/\w+$/, id);
    const { reason, body } = await sendUpload(world, upload);
    expect(reason).toBe('CERTIFICATE_IS_INVALID');
    expect(JSON.stringify(body).length).toBeLessThan(1_000);
  }
  const computation = await world.computation('WAIT_ON_SHUFFLE_INPUT_PHASE_TWO');
  const message = await makeMessage(world, computation, {
    stage: 'SHUFFLE_PHASE_INPUT_TWO',
    sender: 'duchies/beta',
  });
  message.message.certificate = 'duchies/gamma/certificates/1';
  expect((await sendMessage(world, message)).field).toBe('message.certificate');
  expect(exchange.asked).toEqual([]);
});
