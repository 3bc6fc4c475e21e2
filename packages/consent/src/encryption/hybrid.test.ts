import {
  createCipheriv,
  createDecipheriv,
  createECDH,
  createHmac,
  createPrivateKey,
  createPublicKey,
  diffieHellman,
  hkdfSync,
} from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { tink } from '@measurement-exchange/contract';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import {
  ECIES_VECTOR,
  eciesParams,
  eciesPrivate,
  eciesPublic,
  HPKE_VECTOR,
  hex,
  hpkeParams,
  hpkePrivate,
  hpkePublic,
  type KeyInit,
  keyset,
} from '@measurement-exchange/testkit/tinkKeysets';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOf, flipped } from '../../test/errors.ts';
import { createEncryptionKeysets } from '../keysets/keysets.ts';
import { decrypt, encrypt } from './hybrid.ts';

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
const SPEC = new TextEncoder().encode('a requisition spec');
const CONTEXT = hex('02');
const { TINK, RAW } = tink.OutputPrefixType;

const TEMPLATES = [
  'ECIES_P256_HKDF_HMAC_SHA256_AES128_GCM',
  'DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM',
] as const;

describe('the published ciphertexts of Tink', () => {
  it('decrypt with ECIES', async () => {
    const plaintext = await decrypt(keyset([eciesPrivate()]), ECIES_VECTOR.ciphertext, CONTEXT);
    expect(plaintext).toEqual(hex('01'));
  });

  it('decrypt with HPKE', async () => {
    const raw = keyset([{ ...hpkePrivate(), outputPrefixType: RAW }]);
    expect(await decrypt(raw, HPKE_VECTOR.ciphertext, CONTEXT)).toEqual(hex('01'));
  });

  it('do not decrypt in another context', async () => {
    const raw = keyset([{ ...hpkePrivate(), outputPrefixType: RAW }]);
    for (const context of [undefined, hex('03'), hex('0202')]) {
      const ecies = decrypt(keyset([eciesPrivate()]), ECIES_VECTOR.ciphertext, context);
      expect(await faultOf(() => ecies)).toBe('DECRYPTION_FAILED');
      expect(await faultOf(() => decrypt(raw, HPKE_VECTOR.ciphertext, context))).toBe('DECRYPTION_FAILED');
    }
  });
});

// An independent implementation of ECIES and HPKE, based only on node:crypto, to compare with `encrypt` and `decrypt`.
const concat = (...parts: Uint8Array[]) => Buffer.concat(parts);
const VECTOR_POINT = concat(hex('04'), ECIES_VECTOR.x, ECIES_VECTOR.y);

function gcm(key: Uint8Array, iv: Uint8Array, sealed: Uint8Array): Buffer {
  const decipher = createDecipheriv(`aes-${8 * key.length}-gcm` as 'aes-128-gcm', key, iv);
  decipher.setAuthTag(sealed.subarray(-16));
  return concat(decipher.update(sealed.subarray(0, -16)), decipher.final());
}

function openEcies(sealed: Uint8Array, hash: string, salt: Uint8Array, info: Uint8Array, bytes: number) {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(ECIES_VECTOR.d);
  const point = sealed.subarray(0, 65);
  const key = hkdfSync(hash, concat(point, ecdh.computeSecret(point)), salt, info, bytes);
  return gcm(Buffer.from(key), sealed.subarray(65, 77), sealed.subarray(77));
}

function sealEcies(plaintext: Uint8Array, info: Uint8Array): Buffer {
  const ecdh = createECDH('prime256v1');
  const point = ecdh.generateKeys();
  const key = hkdfSync('sha256', concat(point, ecdh.computeSecret(VECTOR_POINT)), '', info, 16);
  const iv = hex('000102030405060708090a0b');
  const cipher = createCipheriv('aes-128-gcm', Buffer.from(key), iv);
  return concat(point, iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag());
}

const hmac = (key: Uint8Array, ...parts: Uint8Array[]) =>
  createHmac('sha256', key)
    .update(concat(...parts))
    .digest();

/** Decrypts as RFC 9180 says in sections 4.1 and 5.1. `expand` can derive at most 32 bytes (one HMAC block). */
function openHpke(sealed: Uint8Array, info: Uint8Array, aead: number, bytes: number): Buffer {
  const empty = Buffer.alloc(0);
  const label = (suite: Buffer, name: string) => concat(Buffer.from('HPKE-v1'), suite, Buffer.from(name));
  const extract = (suite: Buffer, salt: Uint8Array, name: string, ikm: Uint8Array) =>
    hmac(salt, label(suite, name), ikm);
  const expand = (suite: Buffer, prk: Uint8Array, name: string, context: Uint8Array, length: number) =>
    hmac(prk, Buffer.of(0, length), label(suite, name), context, Buffer.of(1)).subarray(0, length);
  const kem = concat(Buffer.from('KEM'), hex('0020'));
  const suite = concat(Buffer.from('HPKE'), hex('00200001'), Buffer.of(0, aead));

  const enc = sealed.subarray(0, 32);
  const der = (start: string, key: Uint8Array) => concat(hex(start), key);
  const dh = diffieHellman({
    privateKey: createPrivateKey({
      key: der('302e020100300506032b656e04220420', HPKE_VECTOR.sk),
      format: 'der',
      type: 'pkcs8',
    }),
    publicKey: createPublicKey({ key: der('302a300506032b656e032100', enc), format: 'der', type: 'spki' }),
  });
  const eae = extract(kem, empty, 'eae_prk', dh);
  const shared = expand(kem, eae, 'shared_secret', concat(enc, HPKE_VECTOR.pk), 32);
  const context = concat(
    Buffer.of(0),
    extract(suite, empty, 'psk_id_hash', empty),
    extract(suite, empty, 'info_hash', info),
  );
  const secret = extract(suite, shared, 'secret', empty);
  const iv = expand(suite, secret, 'base_nonce', context, 12);
  return gcm(expand(suite, secret, 'key', context, bytes), iv, sealed.subarray(32));
}

describe('an independent implementation', () => {
  it('decrypts the published ciphertexts of Tink', () => {
    const sealed = ECIES_VECTOR.ciphertext.subarray(5);
    expect([...openEcies(sealed, 'sha256', hex(''), CONTEXT, 16)]).toEqual([1]);
    expect([...openHpke(HPKE_VECTOR.ciphertext, CONTEXT, 2, 32)]).toEqual([1]);
  });

  it.each([
    ['SHA-256 and AES-128', 16, tink.HashType.SHA256, 'sha256', ''],
    ['SHA-256 and AES-256', 32, tink.HashType.SHA256, 'sha256', ''],
    ['SHA-512, AES-256 and a salt', 32, tink.HashType.SHA512, 'sha512', '00112233'],
    ['SHA-384, AES-128 and a salt', 16, tink.HashType.SHA384, 'sha384', 'ff'],
  ])('decrypts the output of encrypt() with ECIES, %s', async (_title, bytes, hashType, hash, salt) => {
    const params = eciesParams(bytes, hashType);
    const withSalt = { ...params, kemParams: { ...params.kemParams, hkdfSalt: hex(salt) } };
    const sealed = await encrypt(keyset([eciesPublic({ params: withSalt })]), SPEC, CONTEXT);
    expect(sealed).toHaveLength(98 + SPEC.length);
    expect(sealed.subarray(0, 5)).toEqual(hex('0188668866'));
    expect(text(openEcies(sealed.subarray(5), hash, hex(salt), CONTEXT, bytes))).toBe(text(SPEC));
    expect(await decrypt(keyset([eciesPrivate({ params: withSalt })]), sealed, CONTEXT)).toEqual(SPEC);
  });

  it.each([
    ['AES-128', tink.HpkeAead.AES_128_GCM, 1, 16],
    ['AES-256', tink.HpkeAead.AES_256_GCM, 2, 32],
  ])('decrypts the output of encrypt() with HPKE, %s', async (_title, aead, id, bytes) => {
    const params = hpkeParams(aead);
    const sealed = await encrypt(keyset([hpkePublic({ params })]), SPEC, CONTEXT);
    expect(sealed).toHaveLength(53 + SPEC.length);
    expect(text(openHpke(sealed.subarray(5), CONTEXT, id, bytes))).toBe(text(SPEC));
    expect(await decrypt(keyset([hpkePrivate({ params })]), sealed, CONTEXT)).toEqual(SPEC);
  });

  it('writes ECIES ciphertexts that decrypt() reads', async () => {
    const sealed = concat(hex('0188668866'), sealEcies(SPEC, CONTEXT));
    expect(await decrypt(keyset([eciesPrivate()]), sealed, CONTEXT)).toEqual(SPEC);
  });
});

describe.each(TEMPLATES)('encrypt and decrypt with %s', (template) => {
  it('restore any message in any context, and encrypt it differently each time', async () => {
    const { publicKeyset, privateKeyset } = await createEncryptionKeysets(template);
    const bytes = fc.uint8Array({ maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(bytes, bytes, async (plaintext, context) => {
        const sealed = await encrypt(publicKeyset, plaintext, context);
        expect(await decrypt(privateKeyset, sealed, context)).toEqual(plaintext);
        expect(await encrypt(publicKeyset, plaintext, context)).not.toEqual(sealed);
      }),
      { numRuns: rounds(50) },
    );
  });

  it('accept views into larger buffers', async () => {
    const { publicKeyset, privateKeyset } = await createEncryptionKeysets(template);
    const within = (bytes: Uint8Array) => Buffer.concat([Buffer.alloc(7, 1), bytes, Buffer.alloc(9, 2)]);
    const view = (bytes: Uint8Array) => within(bytes).subarray(7, 7 + bytes.length);
    const sealed = await encrypt(view(publicKeyset), view(SPEC), view(CONTEXT));
    const opened = await decrypt(view(privateKeyset), view(sealed), view(CONTEXT));
    expect(text(opened)).toBe(text(SPEC));
  });

  it('reject a ciphertext that is truncated at any length or has an extra byte', async () => {
    const { publicKeyset, privateKeyset } = await createEncryptionKeysets(template);
    const sealed = await encrypt(publicKeyset, SPEC);
    const overhead = sealed.length - SPEC.length;
    for (let length = 0; length < sealed.length; length++) {
      const fault = await faultOf(() => decrypt(privateKeyset, sealed.subarray(0, length)));
      expect([length, fault]).toEqual([
        length,
        length < overhead ? 'CIPHERTEXT_TRUNCATED' : 'DECRYPTION_FAILED',
      ]);
    }
    const longer = Buffer.concat([sealed, Buffer.of(0)]);
    expect(await faultOf(() => decrypt(privateKeyset, longer))).toBe('DECRYPTION_FAILED');
  });

  it('reject a ciphertext with a flipped bit in any byte', async () => {
    const { publicKeyset, privateKeyset } = await createEncryptionKeysets(template);
    const sealed = await encrypt(publicKeyset, hex('01'));
    const isEcies = template === TEMPLATES[0];
    // In a short run, flip only the highest bit of each byte. The highest bit of an X25519 public key does not affect
    // the shared secret. Decryption still fails, because the HPKE key schedule also depends on the bytes of the public
    // key.
    for (let bit = isStress ? 0 : 7; bit < 8 * sealed.length; bit += isStress ? 1 : 8) {
      const fault = await faultOf(() => decrypt(privateKeyset, flipped(sealed, bit)));
      const inPoint = isEcies && bit >= 8 * 5 && bit < 8 * 70;
      const expected = bit < 8 * 5 ? 'NO_MATCHING_KEY' : inPoint ? 'POINT_NOT_ON_CURVE' : 'DECRYPTION_FAILED';
      expect([bit, fault]).toEqual([bit, expected]);
    }
  });

  it('reject a ciphertext of another keyset, even under the right key ID', async () => {
    const [one, other] = [await createEncryptionKeysets(template), await createEncryptionKeysets(template)];
    const sealed = await encrypt(one.publicKeyset, SPEC);
    expect(await faultOf(() => decrypt(other.privateKeyset, sealed))).toBe('NO_MATCHING_KEY');
    const theirs = await encrypt(other.publicKeyset, SPEC);
    const renamed = Buffer.concat([sealed.subarray(0, 5), theirs.subarray(5)]);
    expect(await faultOf(() => decrypt(one.privateKeyset, renamed))).toBe('DECRYPTION_FAILED');
  });
});

describe('a ciphertext', () => {
  it('with a point of small order is rejected', async () => {
    const { privateKeyset, publicKeyset } = await createEncryptionKeysets(TEMPLATES[1]);
    const sealed = await encrypt(publicKeyset, SPEC);
    for (const point of ['00'.repeat(32), `01${'00'.repeat(31)}`]) {
      const forged = Buffer.concat([sealed.subarray(0, 5), hex(point), sealed.subarray(37)]);
      expect(await faultOf(() => decrypt(privateKeyset, forged))).toBe('DECRYPTION_FAILED');
    }
  });

  it('whose point is compressed, hybrid or at infinity is rejected', async () => {
    const { privateKeyset, publicKeyset } = await createEncryptionKeysets();
    const sealed = await encrypt(publicKeyset, SPEC);
    for (const first of [0, 2, 3, 5, 6, 7]) {
      const forged = Uint8Array.from(sealed);
      forged[5] = first;
      expect(await faultOf(() => decrypt(privateKeyset, forged))).toBe('POINT_NOT_ON_CURVE');
    }
    const nowhere = Buffer.concat([sealed.subarray(0, 6), Buffer.alloc(64), sealed.subarray(70)]);
    expect(await faultOf(() => decrypt(privateKeyset, nowhere))).toBe('POINT_NOT_ON_CURVE');
  });
});

describe('a keyset with several keys', () => {
  const named = (key: KeyInit, keyId: number, prefix: tink.OutputPrefixType = TINK): KeyInit => ({
    ...key,
    keyId,
    outputPrefixType: prefix,
  });

  it('encrypts with its primary key, at any position', async () => {
    const keys = [named(hpkePublic(), 7), named(eciesPublic(), 9)];
    const secret = [named(hpkePrivate(), 7), named(eciesPrivate(), 9)];
    for (const primary of [7, 9]) {
      const sealed = await encrypt(keyset(keys, primary), SPEC);
      expect([...sealed.subarray(0, 5)]).toEqual([1, 0, 0, 0, primary]);
      expect(await decrypt(keyset(secret, 7), sealed)).toEqual(SPEC);
    }
  });

  it('decrypts with an enabled key, but not with a disabled or destroyed one', async () => {
    const sealed = await encrypt(keyset([named(eciesPublic(), 9)]), SPEC);
    const disabled = { ...named(eciesPrivate(), 9), status: tink.KeyStatusType.DISABLED };
    const destroyed = { keyId: 9, status: tink.KeyStatusType.DESTROYED, outputPrefixType: TINK };
    for (const key of [disabled, destroyed]) {
      const without = keyset([named(hpkePrivate(), 7), key]);
      expect(await faultOf(() => decrypt(without, sealed))).toBe('NO_MATCHING_KEY');
      expect(await decrypt(keyset([named(hpkePrivate(), 7), key, named(eciesPrivate(), 9)]), sealed)).toEqual(
        SPEC,
      );
    }
  });

  it('tries both of two keys with the same ID if neither is primary', async () => {
    const other = await createEncryptionKeysets();
    const fresh = tinkKeyOf(other.privateKeyset);
    const sealed = await encrypt(keyset([named(eciesPublic(), 9)]), SPEC);
    const both = keyset([named(hpkePrivate(), 7), named(fresh, 9), named(eciesPrivate(), 9)]);
    expect(await decrypt(both, sealed)).toEqual(SPEC);
  });

  it('decrypts a ciphertext without a prefix with its RAW keys, and one with a prefix with the named key', async () => {
    const sealed = await encrypt(keyset([named(eciesPublic(), 9, RAW)]), SPEC);
    expect(sealed).toHaveLength(93 + SPEC.length);
    const secret = keyset([
      named(hpkePrivate(), 7),
      named(hpkePrivate(), 8, RAW),
      named(eciesPrivate(), 9, RAW),
    ]);
    expect(await decrypt(secret, sealed)).toEqual(SPEC);
    const prefixed = await encrypt(keyset([named(hpkePublic(), 7)]), SPEC);
    expect(await decrypt(secret, prefixed)).toEqual(SPEC);
    expect(await faultOf(() => decrypt(keyset([named(eciesPrivate(), 9)]), sealed))).toBe('NO_MATCHING_KEY');
  });

  it('reports the error of the key that the prefix names, not of the RAW keys tried after it', async () => {
    const secret = keyset([named(eciesPrivate(), 9, RAW), named(hpkePrivate(), 7)]);
    const sealed = await encrypt(keyset([named(hpkePublic(), 7)]), SPEC);
    const damaged = flipped(sealed, 8 * sealed.length - 1);
    expect(await faultOf(() => decrypt(secret, damaged))).toBe('DECRYPTION_FAILED');
  });
});

function tinkKeyOf(bytes: Uint8Array): KeyInit {
  const { keyData, ...rest } = fromBinary(tink.KeysetSchema, bytes).key[0]!;
  return { keyData: keyData!, status: rest.status };
}

describe('arbitrary bytes', () => {
  it('are rejected by encrypt and decrypt with a ConsentError', async () => {
    const { privateKeyset } = await createEncryptionKeysets();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
        await faultOf(() => decrypt(privateKeyset, bytes));
        await faultOf(() => decrypt(bytes, SPEC));
        await faultOf(() => encrypt(bytes, SPEC));
      }),
      { numRuns: rounds(200) },
    );
  });
});
