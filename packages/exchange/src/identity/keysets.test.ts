import { createCipheriv, createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto';
import { fromBinary } from '@bufbuild/protobuf';
import { tink } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { createEncryptionKeysets } from './keysets.ts';

const bytes = (...parts: (string | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));
/** Integers have any width: cut leading zeros, then pad to 32 bytes. */
const width32 = (integer: Uint8Array) =>
  Buffer.from(
    Buffer.from(integer)
      .toString('hex')
      .replace(/^(00)+/, '')
      .padStart(64, '0'),
    'hex',
  );
const prefix = (keyId: number) => bytes('01', keyId.toString(16).padStart(8, '0'));

// Tink's ECIES: prefix (5), ephemeral point (65), iv (12), ciphertext, tag (16).
function encrypt(point: Uint8Array, keyId: number, plaintext: Uint8Array): Buffer {
  const ephemeral = createECDH('prime256v1');
  const kem = ephemeral.generateKeys();
  const key = hkdfSync('sha256', bytes(kem, ephemeral.computeSecret(point)), '', '', 16);
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-128-gcm', Buffer.from(key), iv);
  return bytes(prefix(keyId), kem, iv, cipher.update(plaintext), cipher.final(), cipher.getAuthTag());
}

function decrypt(scalar: Uint8Array, keyId: number, ciphertext: Buffer, contextInfo = bytes()): Buffer {
  expect(ciphertext.subarray(0, 5)).toEqual(prefix(keyId));
  const kem = ciphertext.subarray(5, 70);
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(width32(scalar));
  const key = hkdfSync('sha256', bytes(kem, ecdh.computeSecret(kem)), '', contextInfo, 16);
  const decipher = createDecipheriv('aes-128-gcm', Buffer.from(key), ciphertext.subarray(70, 82));
  decipher.setAuthTag(ciphertext.subarray(-16));
  return bytes(decipher.update(ciphertext.subarray(82, -16)), decipher.final());
}

const read = () => {
  const { publicKeyset, privateKeyset } = createEncryptionKeysets();
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

describe('a keyset', () => {
  it('has one enabled key with the TINK prefix, named by type', () => {
    const { publicSet, privateSet } = read();
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

  it('says ECIES on P-256, HKDF-SHA256, AES-128-GCM, with integers of 33 bytes', () => {
    const { publicKey, privateKey } = read();
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

  it('has the public bytes that the format prescribes, field by field', () => {
    const { publicKeyset, publicSet, publicKey } = read();
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

  it('is new every time', () => {
    expect(read().publicSet).not.toEqual(read().publicSet);
  });
});

describe('encryption', () => {
  it('reads the published ciphertext of Tink', () => {
    const scalar = bytes('C9AFA9D845BA75166B5C215767B1D6934E50C3DB36E89B127B8A622B120F6721');
    const ciphertext = bytes(
      '018866886604207f1c9bd3bce6864bdbb611bdb9852dea7e12dbe5894c642bd5cc8cde79de9e8ae3199875eba161d413ce3a29cf',
      'a0b27c6717d7d4cfbace5706ae4bbf8f7d1eb769657992f5e7f5450091cc61c7b3a7b811fe5578e82e5123cb38855c',
    );
    expect(decrypt(scalar, 0x88668866, ciphertext, bytes('02'))).toEqual(bytes('01'));
  });

  it('goes from the public keyset to the private one', () => {
    const { publicSet, privateSet, publicKey, privateKey } = read();
    const point = bytes('04', width32(publicKey.x), width32(publicKey.y));
    const ciphertext = encrypt(point, publicSet.primaryKeyId, Buffer.from('a requisition spec'));
    expect(ciphertext).toHaveLength(98 + 'a requisition spec'.length);
    expect(decrypt(privateKey.keyValue, privateSet.primaryKeyId, ciphertext).toString()).toBe(
      'a requisition spec',
    );
  });
});
