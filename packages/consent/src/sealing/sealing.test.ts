import { randomBytes } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { createEncryptionKeysets, encrypt } from '../index.ts';
import { HEADER_BYTES, sealedLength, sealedPieces } from './pieces.ts';
import { newSealingKey, opened, sealed } from './sealing.ts';

const PIECE = 2 ** 20 - 16;
const CONTEXT = 'share of dataProviders/streamly/requisitions/r1';
const TEMPLATE = 'DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM';
const { publicKeyset, privateKeyset } = await createEncryptionKeysets(TEMPLATE);

async function sealWhole(plaintext: Uint8Array): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(sealed(publicKeyset, CONTEXT, plaintext)));
}

/** Decrypts the ciphertext in chunks whose boundaries differ from the boundaries of the pieces. */
async function openWhole(
  ciphertext: Uint8Array,
  { keyset = privateKeyset, context = CONTEXT } = {},
): Promise<Buffer> {
  async function* chunks() {
    for (let at = 0; at < ciphertext.length; at += 300_007) yield ciphertext.subarray(at, at + 300_007);
  }
  return Buffer.concat(await Array.fromAsync(opened(keyset, context, chunks())));
}

test.each([0, 1, PIECE - 1, PIECE, PIECE + 1, 3 * PIECE + 5])(
  'sealing and opening %d bytes returns the plaintext, and the ciphertext has the length of sealedLength',
  async (length) => {
    const plaintext = randomBytes(length);
    const ciphertext = await sealWhole(plaintext);
    expect(ciphertext).toHaveLength(sealedLength(length));
    expect((await openWhole(ciphertext)).equals(plaintext)).toBe(true);
  },
);

// A single random byte probably occurs somewhere in every ciphertext, so the test searches for 8 bytes.
test.each([1000, PIECE + 1000])(
  'the ciphertext of %d bytes contains no sampled part of the plaintext',
  async (length) => {
    const plaintext = randomBytes(length);
    const ciphertext = await sealWhole(plaintext);
    for (let at = 0; at + 8 <= length; at += Math.max(99, Math.floor(length / 20))) {
      expect(ciphertext.includes(plaintext.subarray(at, at + 8))).toBe(false);
    }
  },
);

test('the sealed pieces do not depend on the chunk size', async () => {
  const plaintext = randomBytes(2 * PIECE + 100);
  const key = await newSealingKey(publicKeyset, CONTEXT);
  const chunked = (size: number) =>
    Array.from({ length: Math.ceil(plaintext.length / size) }, (_, i) =>
      plaintext.subarray(i * size, (i + 1) * size),
    );
  const whole = Buffer.concat([...sealedPieces(key, [plaintext])]);
  for (const size of [65_521, PIECE, PIECE + 1]) {
    expect(Buffer.concat([...sealedPieces(key, chunked(size))]).equals(whole)).toBe(true);
  }
  expect((await openWhole(whole)).equals(plaintext)).toBe(true);
});

test('sealing the same plaintext twice returns different ciphertexts', async () => {
  const plaintext = randomBytes(64);
  const [one, other] = [await sealWhole(plaintext), await sealWhole(plaintext)];
  expect(one.subarray(HEADER_BYTES).equals(other.subarray(HEADER_BYTES))).toBe(false);
});

describe('opening a sealed ciphertext', () => {
  const plaintext = randomBytes(3 * PIECE);
  const rejected = expect.objectContaining({ name: 'ConsentError' });

  /** Seals the plaintext anew, and splits the ciphertext into its header and three pieces of equal size. */
  async function parts(): Promise<Buffer[]> {
    const whole = await sealWhole(plaintext);
    return [
      whole.subarray(0, HEADER_BYTES),
      ...[0, 1, 2].map((i) => whole.subarray(HEADER_BYTES + i * 2 ** 20, HEADER_BYTES + (i + 1) * 2 ** 20)),
    ];
  }

  test.each([
    ['a ciphertext for another key', [0, 1, 2, 3], true],
    ['a ciphertext without its last piece', [0, 1, 2]],
    ['a header without pieces', [0]],
    ['an empty ciphertext', []],
    ['a ciphertext without its second piece', [0, 1, 3]],
    ['a duplicate second piece', [0, 1, 2, 2, 3]],
    ['a duplicate last piece', [0, 1, 2, 3, 3]],
    ['two swapped pieces', [0, 2, 1, 3]],
  ])('rejects %s', async (_, order, otherKey = false) => {
    const made = await parts();
    const other = await createEncryptionKeysets(TEMPLATE);
    const opening = openWhole(
      Buffer.concat(order.map((i) => made[i]!)),
      otherKey ? { keyset: other.privateKeyset } : {},
    );
    await expect(opening).rejects.toEqual(rejected);
  });

  test('rejects another context', async () => {
    const opening = openWhole(await sealWhole(plaintext), { context: `${CONTEXT}0` });
    await expect(opening).rejects.toEqual(rejected);
  });

  test('rejects a sealing key of 16 bytes', async () => {
    const encryptedKey = await encrypt(publicKeyset, randomBytes(16));
    const header = Buffer.alloc(HEADER_BYTES);
    header.writeUInt16BE(encryptedKey.length);
    header.set(encryptedKey, 2);
    const [, ...pieces] = await parts();
    await expect(openWhole(Buffer.concat([header, ...pieces]))).rejects.toEqual(rejected);
  });

  // The first six offsets are in the header: in the length, the encrypted key, and the padding.
  test.each([0, 1, 2, 40, 100, 255, HEADER_BYTES, PIECE, 2 * PIECE, 3 * PIECE])(
    'rejects a change of byte %d',
    async (at) => {
      const ciphertext = await sealWhole(plaintext);
      ciphertext[at]! ^= 1;
      await expect(openWhole(ciphertext)).rejects.toEqual(rejected);
    },
  );

  test('rejects a piece of another message of the same sender', async () => {
    const [one, other] = [await parts(), await parts()];
    await expect(openWhole(Buffer.concat([one[0]!, one[1]!, other[2]!, one[3]!]))).rejects.toEqual(rejected);
  });
});
