import { createPublicKey } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { tink } from '@measurement-exchange/contract';
import {
  ECIES_VECTOR,
  eciesPrivate,
  eciesPublic,
  HPKE_VECTOR,
  hex,
  hpkePrivate,
  hpkePublic,
  type KeyInit,
  keyset,
} from '@measurement-exchange/testkit/tinkKeysets';
import { describe, expect, it } from 'vitest';
import { faultOf } from '../../test/errors.ts';
import { createEncryptionKeysets, publicKeysetOf, readPrivateKeyset, readPublicKeyset } from './keysets.ts';

const bytes = (...parts: (string | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));
const read = async () => {
  const { publicKeyset, privateKeyset } = await createEncryptionKeysets();
  const [publicSet, privateSet] = [publicKeyset, privateKeyset].map((set) =>
    fromBinary(tink.KeysetSchema, set),
  );
  return {
    publicKeyset,
    publicSet: publicSet!,
    privateSet: privateSet!,
    publicKey: fromBinary(tink.EciesAeadHkdfPublicKeySchema, publicSet!.key[0]!.keyData!.value),
    privateKey: fromBinary(tink.EciesAeadHkdfPrivateKeySchema, privateSet!.key[0]!.keyData!.value),
  };
};

describe('a created keyset', () => {
  it('has one enabled key with the TINK prefix and its type URL', async () => {
    const { publicSet, privateSet } = await read();
    for (const set of [publicSet, privateSet]) {
      expect(set.key).toHaveLength(1);
      expect(set.primaryKeyId).toBe(set.key[0]!.keyId);
      expect(set.primaryKeyId).toBeGreaterThan(0);
      expect(set.key[0]).toMatchObject({ status: 1, outputPrefixType: 1 });
    }
    expect(publicSet.primaryKeyId).toBe(privateSet.primaryKeyId);
    const type = 'type.googleapis.com/google.crypto.tink.EciesAeadHkdf';
    expect(publicSet.key[0]!.keyData).toMatchObject({ typeUrl: `${type}PublicKey`, keyMaterialType: 3 });
    expect(privateSet.key[0]!.keyData).toMatchObject({ typeUrl: `${type}PrivateKey`, keyMaterialType: 2 });
  });

  it('has the parameters ECIES on P-256, HKDF-SHA256 and AES-128-GCM, and integers of 33 bytes', async () => {
    const { publicKey, privateKey } = await read();
    expect(publicKey.params).toMatchObject({
      kemParams: { curveType: 2, hkdfHashType: 3 },
      ecPointFormat: 1,
    });
    const dem = publicKey.params!.demParams!.aeadDem!;
    expect(dem.typeUrl).toBe('type.googleapis.com/google.crypto.tink.AesGcmKey');
    expect(bytes(dem.value)).toEqual(bytes('1010'));
    for (const integer of [publicKey.x, publicKey.y, privateKey.keyValue]) {
      expect(integer).toHaveLength(33);
      expect(integer[0]).toBe(0);
    }
    expect(privateKey.publicKey).toEqual(publicKey);
  });

  it('has the public bytes that the format prescribes, field by field', async () => {
    const { publicKeyset, publicSet, publicKey } = await read();
    const field = (tag: string, ...parts: (string | Uint8Array)[]) => {
      const value = bytes(...parts);
      expect(value.length).toBeLessThan(256);
      // A length of 128 or more takes two bytes.
      const length = value.length < 128 ? Buffer.of(value.length) : Buffer.of(value.length, 1);
      return bytes(tag, length, value);
    };
    const varint = (value: number) => {
      const out: number[] = [];
      for (let rest = value; ; rest = Math.floor(rest / 128)) {
        if (rest < 128) return Buffer.of(...out, rest);
        out.push((rest % 128) | 128);
      }
    };
    const type = (name: string) => Buffer.from(`type.googleapis.com/google.crypto.tink.${name}`);
    const dem = field('12', field('0a', type('AesGcmKey')), field('12', '1010'), '1803');
    const params = bytes(field('0a', '08021003'), field('12', dem), '1801');
    const key = bytes(field('12', params), field('1a', publicKey.x), field('22', publicKey.y));
    const keyData = bytes(field('0a', type('EciesAeadHkdfPublicKey')), field('12', key), '1803');
    const id = varint(publicSet.primaryKeyId);
    const entry = field('12', field('0a', keyData), '1001', '18', id, '2001');
    expect(bytes(publicKeyset)).toEqual(bytes('08', id, entry));
  });

  it('is new every time', async () => {
    expect((await read()).publicSet).not.toEqual((await read()).publicSet);
  });
});

const HPKE_TEMPLATE = 'DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM';
const OTHER_POINT = {
  x: hex('6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296'),
  y: hex('4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5'),
};

describe('a created HPKE keyset', () => {
  it('has the public bytes that the format prescribes, and the private key after them', async () => {
    const { publicKeyset, privateKeyset } = await createEncryptionKeysets(HPKE_TEMPLATE);
    const [publicSet, privateSet] = [publicKeyset, privateKeyset].map((set) =>
      fromBinary(tink.KeysetSchema, set),
    );
    const type = 'type.googleapis.com/google.crypto.tink.Hpke';
    expect(publicSet!.key[0]).toMatchObject({
      status: 1,
      outputPrefixType: 1,
      keyId: publicSet!.primaryKeyId,
    });
    expect(publicSet!.key[0]!.keyData).toMatchObject({ typeUrl: `${type}PublicKey`, keyMaterialType: 3 });
    expect(privateSet!.key[0]!.keyData).toMatchObject({ typeUrl: `${type}PrivateKey`, keyMaterialType: 2 });
    // The public value is params { kem 1, kdf 1, aead 2 } and a key of 32 bytes. The private value adds the private
    // key.
    const publicValue = publicSet!.key[0]!.keyData!.value;
    expect(bytes(publicValue.subarray(0, 10))).toEqual(bytes('12060801100118021a20'));
    expect(publicValue).toHaveLength(42);
    const privateValue = privateSet!.key[0]!.keyData!.value;
    expect(bytes(privateValue.subarray(0, 46))).toEqual(bytes('122a', publicValue, '1a20'));
    expect(privateValue).toHaveLength(78);
  });
});

describe.each(['ECIES_P256_HKDF_HMAC_SHA256_AES128_GCM', HPKE_TEMPLATE] as const)(
  'a keyset of %s',
  (template) => {
    it('is read as it was created', async () => {
      const { publicKeyset, privateKeyset } = await createEncryptionKeysets(template);
      const encrypting = readPublicKeyset(publicKeyset);
      const { primary, keys } = await readPrivateKeyset(privateKeyset);
      expect(keys).toEqual([primary]);
      expect(primary.privateKey).toHaveLength(32);
      const { privateKey, ...shared } = primary;
      expect(encrypting).toEqual({ primary: shared, keys: [shared] });
      expect(shared.prefix).toBe('TINK');
    });

    it('has a public part that publicKeysetOf derives exactly from the private part', async () => {
      const { publicKeyset, privateKeyset } = await createEncryptionKeysets(template);
      expect(publicKeysetOf(privateKeyset)).toEqual(publicKeyset);
    });
  },
);

describe('publicKeysetOf', () => {
  it('keeps the order and the status of the keys, and omits destroyed keys', () => {
    const disabled = (key: KeyInit) => ({ ...key, keyId: 5, status: tink.KeyStatusType.DISABLED });
    const destroyed = { keyId: 6, status: tink.KeyStatusType.DESTROYED };
    const raw = (key: KeyInit) => ({ ...key, keyId: 7, outputPrefixType: tink.OutputPrefixType.RAW });
    const secret = keyset([disabled(hpkePrivate()), destroyed, raw(eciesPrivate())], 7);
    expect(publicKeysetOf(secret)).toEqual(keyset([disabled(hpkePublic()), raw(eciesPublic())], 7));
  });

  it('returns a keyset that does not contain the private key', async () => {
    for (const [set, secret] of [
      [keyset([eciesPrivate()]), ECIES_VECTOR.d],
      [keyset([hpkePrivate()]), HPKE_VECTOR.sk],
    ] as const) {
      expect(Buffer.from(set).includes(Buffer.from(secret))).toBe(true);
      expect(Buffer.from(publicKeysetOf(set)).includes(Buffer.from(secret))).toBe(false);
    }
  });

  it('rejects a public keyset', async () => {
    expect(await faultOf(() => publicKeysetOf(keyset([eciesPublic()])))).toBe('KEYSET_NOT_PRIVATE');
  });
});

describe('the integers of a keyset', () => {
  it('are read at any width, with or without leading zeros', async () => {
    const expected = readPublicKeyset(keyset([eciesPublic()]));
    for (const zeros of [0, 1, 2, 40]) {
      const wide = (integer: Uint8Array) => bytes('00'.repeat(zeros), integer);
      const changes = { x: wide(ECIES_VECTOR.x), y: wide(ECIES_VECTOR.y) };
      expect(readPublicKeyset(keyset([eciesPublic(changes)]))).toEqual(expected);
      const { primary } = await readPrivateKeyset(keyset([eciesPrivate(changes, wide(ECIES_VECTOR.d))]));
      expect(bytes(primary.privateKey)).toEqual(bytes(ECIES_VECTOR.d));
    }
  });

  it('are read if they were stored without their leading zeros', async () => {
    // The scalar d = 1 is stored as one byte. Its public key, OTHER_POINT, is the base point of the curve.
    const { primary } = await readPrivateKeyset(keyset([eciesPrivate(OTHER_POINT, Uint8Array.of(1))]));
    expect(bytes(primary.privateKey)).toEqual(bytes('00'.repeat(31), '01'));
    // Try d = 1, 2, 3, … until the public point has an x coordinate that begins with a zero byte.
    for (let d = 1; ; d++) {
      const scalar = Buffer.alloc(32);
      scalar.writeUInt32BE(d, 28);
      const jwk = createPublicKey({ key: ecPrivatePem(scalar) }).export({ format: 'jwk' });
      const [x, y] = [Buffer.from(jwk.x!, 'base64url'), Buffer.from(jwk.y!, 'base64url')];
      if (x[0] !== 0) continue;
      const read = await readPrivateKeyset(keyset([eciesPrivate({ x: x.subarray(1), y }, scalar)]));
      expect(bytes(read.primary.publicKey)).toEqual(bytes('04', x, y));
      break;
    }
  });
});

/** Writes a private key in the SEC 1 format, which does not need the public point. */
function ecPrivatePem(scalar: Uint8Array): string {
  const der = bytes('30310201010420', scalar, 'a00a06082a8648ce3d030107');
  return `-----BEGIN EC PRIVATE KEY-----\n${der.toString('base64')}\n-----END EC PRIVATE KEY-----\n`;
}
