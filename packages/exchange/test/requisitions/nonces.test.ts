/**
 * Tests that the exchange keeps all 64 bits of a nonce in every operation, although JavaScript numbers are exact only
 * up to 53 bits. Also tests that a nonce that does not match its hash is rejected.
 */
import { createHash } from 'node:crypto';
import {
  type DevParty,
  exact,
  fulfillment,
  measurementRequest,
  useExchange,
} from '@measurement-exchange/testkit/exchange';
import {
  castOf,
  createMeasurement,
  errorOf,
  get,
  ok,
  post,
  requisitionOf,
  stored,
} from '@measurement-exchange/testkit/steps';
import { beforeAll, describe, expect, it } from 'vitest';

let acme: DevParty;
let streamly: DevParty;

const exchange = useExchange();
beforeAll(() => {
  ({ acme, streamly } = castOf(exchange));
});

const NONCES = [0n, 1n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 63n, 2n ** 64n - 1n];
const sha256 = (preimage: string | Buffer) => createHash('sha256').update(preimage).digest('base64');
const bigEndian = (nonce: bigint) => Buffer.from(nonce.toString(16).padStart(16, '0'), 'hex');

describe.each([
  ['8 bytes big-endian', (nonce: bigint) => sha256(bigEndian(nonce))],
  ['its decimal text', (nonce: bigint) => sha256(nonce.toString())],
])('a nonce with a nonceHash over %s', (_preimage, hash) => {
  describe.each([
    ['a number', (nonce: bigint) => nonce],
    ['a string', (nonce: bigint) => nonce.toString()],
  ])('sent as %s', (_form, write) => {
    it.each(NONCES)('%s is returned unchanged by fulfillDirect and in both views', async (nonce) => {
      const request = measurementRequest(acme, [streamly], [nonce]);
      const entry = request.dataProviders[streamly.name]!;
      entry.nonceHash = hash(nonce);
      Object.assign(entry.encryptedRequisitionSpec, { nonce: write(nonce) });
      const measurement = await ok(post(exchange, acme, `${acme.name}/measurements`, request));
      const requisition = await requisitionOf(exchange, streamly, measurement);
      expect(requisition).not.toHaveProperty('nonce');
      expect(requisition.nonceHash).toBe(hash(nonce));

      const body = { ...fulfillment(streamly, requisition, nonce), nonce: write(nonce) };
      const replies = [await post(exchange, streamly, `${requisition.name}:fulfillDirect`, body)];
      const id = requisition.name.split('/').at(-1);
      replies.push(await exchange.call(streamly.token, 'GET', `/v2alpha/${requisition.name}`));
      replies.push(await exchange.call(acme.token, 'GET', `/v2alpha/${measurement.name}/requisitions/${id}`));
      for (const reply of replies) {
        await ok(reply);
        const read = exact(reply.text) as unknown as {
          nonce: bigint;
          encryptedRequisitionSpec: { nonce: bigint };
        };
        // Convert to BigInt, because the exact JSON reader returns small integers as numbers.
        expect(BigInt(read.nonce)).toBe(nonce);
        expect(BigInt(read.encryptedRequisitionSpec.nonce)).toBe(nonce);
        expect(reply.text).toContain(`"nonce":${nonce},"protocolConfig"`);
      }
    });
  });
});

describe('a nonceHash', () => {
  /**
   * This nonce looks different in every encoding: its bytes are not a palindrome, its first byte is zero, and the sign
   * bit of its lower half is set.
   */
  const NONCE = 0x00f1_e2d3_c4b5_a697n;
  const HIGH = 2n ** 63n + NONCE;
  const reversed = (bytes: Buffer) => Buffer.from(bytes).reverse();

  it.each<[string, bigint, string | Buffer]>([
    ['8 bytes little-endian', NONCE, reversed(bigEndian(NONCE))],
    ['its bytes without leading zeros', NONCE, bigEndian(NONCE).subarray(1)],
    ['16 bytes big-endian', NONCE, Buffer.concat([Buffer.alloc(8), bigEndian(NONCE)])],
    ['its low 4 bytes', NONCE, bigEndian(NONCE).subarray(4)],
    ['its signed decimal text', HIGH, BigInt.asIntN(64, HIGH).toString()],
    ['decimal text with a leading zero', NONCE, `0${NONCE}`],
    ['decimal text with a line end', NONCE, `${NONCE}\n`],
    ['hexadecimal text', NONCE, NONCE.toString(16)],
    ['the text of its bytes', NONCE, bigEndian(NONCE).toString('hex')],
    ['an empty text', NONCE, ''],
  ])('over %s does not match the nonce at create or at fulfillDirect', async (_form, nonce, preimage) => {
    const request = measurementRequest(acme, [streamly], [nonce]);
    const entry = request.dataProviders[streamly.name]!;
    entry.nonceHash = sha256(preimage);
    const create = () => post(exchange, acme, `${acme.name}/measurements`, request);
    const measurement = await ok(create());
    const requisition = await requisitionOf(exchange, streamly, measurement);
    const body = fulfillment(streamly, requisition, nonce);
    expect(errorOf(await post(exchange, streamly, `${requisition.name}:fulfillDirect`, body))).toBe(
      '400 INVALID_ARGUMENT NONCE_MISMATCH nonce',
    );
    expect(await get(exchange, streamly, requisition.name)).toEqual(requisition);
    Object.assign(entry.encryptedRequisitionSpec, { nonce });
    const field = `dataProviders[${streamly.name}].encryptedRequisitionSpec.nonce`;
    expect(errorOf(await create())).toBe(`400 INVALID_ARGUMENT INVALID_FIELD_VALUE ${field}`);
  });
});

describe('a wrong nonce', () => {
  it.each([
    [2n ** 53n + 1n, 2n ** 53n],
    [2n ** 63n, 2n ** 63n - 1n],
    [2n ** 64n - 1n, 2n ** 64n - 2n],
    [0n, 1n],
  ])('is rejected and changes nothing: %s expected, %s sent', async (nonce, other) => {
    const measurement = await createMeasurement(exchange, acme, [streamly], [nonce]);
    const requisition = await requisitionOf(exchange, streamly, measurement);
    const before = await stored(exchange);
    const body = fulfillment(streamly, requisition, other);
    expect(errorOf(await post(exchange, streamly, `${requisition.name}:fulfillDirect`, body))).toBe(
      '400 INVALID_ARGUMENT NONCE_MISMATCH nonce',
    );
    expect(await stored(exchange)).toEqual(before);
    expect(await get(exchange, streamly, requisition.name)).toEqual(requisition);
  });

  it('is rejected if it is not an unsigned 64-bit integer', async () => {
    const requisition = await requisitionOf(
      exchange,
      streamly,
      await createMeasurement(exchange, acme, [streamly], [1n]),
    );
    for (const nonce of ['1.0', '1e0', '-1', '18446744073709551616', '"1.0"', '"0x1"', 'true', 'null']) {
      const body = JSON.stringify({ ...fulfillment(streamly, requisition, 1n), nonce: 0 });
      const reply = await post(
        exchange,
        streamly,
        `${requisition.name}:fulfillDirect`,
        body.replace('"nonce":0', `"nonce":${nonce}`),
      );
      expect(errorOf(reply)).toMatch(/^400 INVALID_ARGUMENT \w+ nonce$/);
    }
  });
});
