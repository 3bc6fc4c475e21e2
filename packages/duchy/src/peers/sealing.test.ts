import { randomBytes } from 'node:crypto';
import { createEncryptionKeysets } from '@measurement-exchange/consent';
import { describe, expect, test } from 'vitest';
import { opened, sealed } from './sealing.ts';

const PIECE = 2 ** 20 - 16;
const TEMPLATE = 'DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM';
const { publicKeyset, privateKeyset } = await createEncryptionKeysets(TEMPLATE);

async function sealWhole(plaintext: Uint8Array): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(sealed(publicKeyset, plaintext)));
}

/** In chunks of a size that fits no piece. */
async function openWhole(ciphertext: Uint8Array, keyset = privateKeyset): Promise<Buffer> {
  async function* chunks() {
    for (let at = 0; at < ciphertext.length; at += 300_007) yield ciphertext.subarray(at, at + 300_007);
  }
  return Buffer.concat(await Array.fromAsync(opened(keyset, chunks())));
}

test.each([0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5])(
  '%d bytes open as they were',
  async (length) => {
    const plaintext = randomBytes(length);
    const ciphertext = await sealWhole(plaintext);
    expect(ciphertext.subarray(100).includes(plaintext.subarray(0, 1000))).toBe(length === 0);
    expect((await openWhole(ciphertext)).equals(plaintext)).toBe(true);
  },
);

describe('what is not as it was encrypted does not open', () => {
  const plaintext = randomBytes(3 * PIECE);
  const rejected = expect.objectContaining({ name: 'ConsentError' });

  /** After the key and its length there are three pieces of one size. */
  async function parts(): Promise<Buffer[]> {
    const whole = await sealWhole(plaintext);
    const at = whole.length - 3 * 2 ** 20;
    return [
      whole.subarray(0, at),
      ...[0, 1, 2].map((i) => whole.subarray(at + i * 2 ** 20, at + (i + 1) * 2 ** 20)),
    ];
  }

  test.each([
    ['one of another key', [0, 1, 2, 3], true],
    ['the last piece missing', [0, 1, 2]],
    ['all pieces missing', [0]],
    ['nothing at all', []],
    ['a piece missing', [0, 1, 3]],
    ['a piece twice', [0, 1, 2, 2, 3]],
    ['the last piece twice', [0, 1, 2, 3, 3]],
    ['two pieces swapped', [0, 2, 1, 3]],
  ])('%s', async (_, order, otherKey = false) => {
    const made = await parts();
    const other = await createEncryptionKeysets(TEMPLATE);
    const opening = openWhole(
      Buffer.concat(order.map((i) => made[i]!)),
      otherKey ? other.privateKeyset : privateKeyset,
    );
    await expect(opening).rejects.toEqual(rejected);
  });

  test.each([0, 1, 2, 40, 100, PIECE, 2 * PIECE, 3 * PIECE])('byte %d changed', async (at) => {
    const ciphertext = await sealWhole(plaintext);
    ciphertext[at]! ^= 1;
    await expect(openWhole(ciphertext)).rejects.toEqual(rejected);
  });

  test('pieces of another message of the same sender', async () => {
    const [one, other] = [await parts(), await parts()];
    await expect(openWhole(Buffer.concat([one[0]!, one[1]!, other[2]!, one[3]!]))).rejects.toEqual(rejected);
  });
});
