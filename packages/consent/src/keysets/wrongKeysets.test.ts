import { create, toBinary } from '@bufbuild/protobuf';
import { tink } from '@measurement-exchange/contract';
import { rounds } from '@measurement-exchange/testkit/rounds';
import {
  ECIES_VECTOR,
  type EciesInit,
  eciesParams,
  eciesPrivate,
  eciesPublic,
  entry,
  HPKE_VECTOR,
  type HpkeInit,
  hex,
  hpkeParams,
  hpkePrivate,
  hpkePublic,
  type KeyInit,
  keyset,
} from '@measurement-exchange/testkit/tinkKeysets';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { faultOf } from '../../test/errors.ts';
import { readPrivateKeyset, readPublicKeyset } from './keysets.ts';

const bytes = (...parts: (string | Uint8Array)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)));
const OTHER_POINT = {
  x: hex('6B17D1F2E12C4247F8BCE6E563A440F277037D812DEB33A0F4A13945D898C296'),
  y: hex('4FE342E2FE1A7F9B8EE7EB4A7C0F9E162BCE33576B315ECECBB6406837BF51F5'),
};

const HPKE_LOW = '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157';

describe('an invalid keyset', () => {
  const ecies = (changes: EciesInit) => eciesPublic(changes);
  const kem = (changes: object) => {
    const params = eciesParams();
    return ecies({ params: { ...params, kemParams: { ...params.kemParams, ...changes } } });
  };
  const dem = (changes: object) => {
    const params = eciesParams();
    const aeadDem = { ...params.demParams.aeadDem, ...changes };
    return ecies({ params: { ...params, demParams: { aeadDem } } });
  };
  const hpke = (changes: HpkeInit) => hpkePublic(changes);
  const withData = (changes: object) => {
    const key = eciesPublic();
    return { ...key, keyData: { ...key.keyData, ...changes } } as KeyInit;
  };
  const sizes = eciesParams();

  const faults: [string, KeyInit, string][] = [
    ['no data', { ...eciesPublic(), keyData: undefined } as unknown as KeyInit, 'KEYSET_MALFORMED'],
    [
      'a truncated value',
      withData({ value: eciesPublic().keyData!.value!.subarray(0, -1) }),
      'KEYSET_MALFORMED',
    ],
    ['a value of another message', withData({ value: hex('0a03616263') }), 'KEYSET_MALFORMED'],
    ['the key material type of a private key', withData({ keyMaterialType: 2 }), 'KEYSET_MALFORMED'],
    ['the type of another scheme', entry('AesSivKey', hex('0a00')), 'KEY_NOT_SUPPORTED'],
    ['no type', withData({ typeUrl: '' }), 'KEY_NOT_SUPPORTED'],
    [
      'a type without its domain',
      withData({ typeUrl: 'google.crypto.tink.EciesAeadHkdfPublicKey' }),
      'KEY_NOT_SUPPORTED',
    ],
    ['a future version', ecies({ version: 1 }), 'KEY_NOT_SUPPORTED'],
    ['no parameters', ecies({ params: undefined } as unknown as EciesInit), 'KEY_NOT_SUPPORTED'],
    ['the curve P-384', kem({ curveType: tink.EllipticCurveType.NIST_P384 }), 'KEY_NOT_SUPPORTED'],
    ['the hash SHA-1', kem({ hkdfHashType: tink.HashType.SHA1 }), 'KEY_NOT_SUPPORTED'],
    ['compressed points', ecies({ params: { ...sizes, ecPointFormat: 2 } }), 'KEY_NOT_SUPPORTED'],
    [
      'another cipher',
      dem({ typeUrl: 'type.googleapis.com/google.crypto.tink.AesCtrHmacAeadKey' }),
      'KEY_NOT_SUPPORTED',
    ],
    ['a cipher key of 24 bytes', dem({ value: hex('1018') }), 'KEY_NOT_SUPPORTED'],
    ['a cipher without a key size', dem({ value: hex('') }), 'KEY_NOT_SUPPORTED'],
    ['a malformed cipher', dem({ value: hex('10') }), 'KEYSET_MALFORMED'],
    ['the prefix LEGACY', { ...eciesPublic(), outputPrefixType: 2 }, 'KEY_NOT_SUPPORTED'],
    ['the prefix CRUNCHY', { ...eciesPublic(), outputPrefixType: 4 }, 'KEY_NOT_SUPPORTED'],
    ['no prefix type', { ...eciesPublic(), outputPrefixType: 0 }, 'KEY_NOT_SUPPORTED'],
    ['a point off the curve', ecies({ y: OTHER_POINT.y }), 'KEY_NOT_ON_CURVE'],
    ['the point at infinity', ecies({ x: hex('00'), y: hex('00') }), 'KEY_NOT_ON_CURVE'],
    ['no point', ecies({ x: hex(''), y: hex('') }), 'KEY_NOT_ON_CURVE'],
    ['a coordinate of 33 bytes', ecies({ x: bytes('01', ECIES_VECTOR.x) }), 'KEY_NOT_ON_CURVE'],
    ['ChaCha20', hpke({ params: hpkeParams(tink.HpkeAead.CHACHA20_POLY1305) }), 'KEY_NOT_SUPPORTED'],
    ['no AEAD', hpke({ params: hpkeParams(0) }), 'KEY_NOT_SUPPORTED'],
    ['another KEM', hpke({ params: { kem: 2, kdf: 1, aead: 2 } as object }), 'KEY_NOT_SUPPORTED'],
    ['another KDF', hpke({ params: { kem: 1, kdf: 2, aead: 2 } as object }), 'KEY_NOT_SUPPORTED'],
    ['a future HPKE version', hpke({ version: 1 }), 'KEY_NOT_SUPPORTED'],
    ['an HPKE key of 31 bytes', hpke({ publicKey: HPKE_VECTOR.pk.subarray(1) }), 'KEYSET_MALFORMED'],
    ['an HPKE key of 33 bytes', hpke({ publicKey: bytes(HPKE_VECTOR.pk, '00') }), 'KEYSET_MALFORMED'],
    ['an HPKE key of zero', hpke({ publicKey: new Uint8Array(32) }), 'KEY_OF_SMALL_ORDER'],
    ['an HPKE key of order 8', hpke({ publicKey: hex(HPKE_LOW) }), 'KEY_OF_SMALL_ORDER'],
  ];

  it.each(faults)('with %s is rejected', async (_title, key, fault) => {
    expect(await faultOf(() => readPublicKeyset(keyset([key])))).toBe(fault);
  });

  it('is rejected if an enabled key is invalid, but not if only a disabled key is', async () => {
    const bad = { ...ecies({ y: OTHER_POINT.y }), keyId: 3 };
    expect(await faultOf(() => readPublicKeyset(keyset([eciesPublic(), bad])))).toBe('KEY_NOT_ON_CURVE');
    const disabled = { ...bad, status: tink.KeyStatusType.DISABLED };
    expect(readPublicKeyset(keyset([eciesPublic(), disabled])).keys).toHaveLength(1);
  });

  it('without exactly one enabled primary key is rejected', async () => {
    const other = { ...hpkePublic(), keyId: 3 };
    const disabled = { ...eciesPublic(), status: tink.KeyStatusType.DISABLED };
    const unknown = { ...eciesPublic(), status: tink.KeyStatusType.UNKNOWN_STATUS };
    const noPrimary = [
      keyset([eciesPublic(), other], 4),
      keyset([disabled, other]),
      keyset([unknown, other]),
      keyset([disabled]),
      keyset([eciesPublic(), eciesPublic()]),
    ];
    for (const set of noPrimary) expect(await faultOf(() => readPublicKeyset(set))).toBe('KEYSET_NO_PRIMARY');
  });

  it('that is empty, truncated, JSON or otherwise malformed is rejected', async () => {
    const whole = keyset([eciesPublic()]);
    const bad = [hex(''), hex('0801'), hex('ff'), Buffer.from('{"primaryKeyId":1}'), bytes(whole, '00')];
    for (const set of bad) expect(await faultOf(() => readPublicKeyset(set))).toBe('KEYSET_MALFORMED');
    for (let length = 0; length < whole.length; length++) {
      const fault = await faultOf(() => readPublicKeyset(whole.subarray(0, length)));
      expect([length, fault]).toEqual([length, 'KEYSET_MALFORMED']);
    }
  });

  it('that is private instead of public, or public instead of private, is rejected', async () => {
    for (const key of [eciesPrivate(), hpkePrivate()]) {
      expect(await faultOf(() => readPublicKeyset(keyset([key])))).toBe('KEYSET_NOT_PUBLIC');
    }
    for (const key of [eciesPublic(), hpkePublic()]) {
      expect(await faultOf(() => readPrivateKeyset(keyset([key])))).toBe('KEYSET_NOT_PRIVATE');
    }
  });
});

describe('an invalid private keyset', () => {
  const order = hex('FFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551');
  const negative = (y: Uint8Array) => {
    const p = 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n;
    return hex((p - BigInt(`0x${Buffer.from(y).toString('hex')}`)).toString(16).padStart(64, '0'));
  };
  const orphan = toBinary(
    tink.EciesAeadHkdfPrivateKeySchema,
    create(tink.EciesAeadHkdfPrivateKeySchema, { keyValue: ECIES_VECTOR.d }),
  );
  const hpkeOrphan = toBinary(
    tink.HpkePrivateKeySchema,
    create(tink.HpkePrivateKeySchema, { privateKey: HPKE_VECTOR.sk }),
  );
  const faults: [string, KeyInit, string][] = [
    ['the scalar zero', eciesPrivate({}, new Uint8Array(33)), 'KEY_OUT_OF_RANGE'],
    ['no scalar', eciesPrivate({}, new Uint8Array()), 'KEY_OUT_OF_RANGE'],
    ['the order of the curve as the scalar', eciesPrivate({}, order), 'KEY_OUT_OF_RANGE'],
    ['a scalar of 33 bytes', eciesPrivate({}, bytes('01', ECIES_VECTOR.d)), 'KEY_OUT_OF_RANGE'],
    ['the scalar of another point', eciesPrivate(OTHER_POINT), 'KEY_PAIR_MISMATCH'],
    ['the negative point', eciesPrivate({ y: negative(ECIES_VECTOR.y) }), 'KEY_PAIR_MISMATCH'],
    ['a point off the curve', eciesPrivate({ y: OTHER_POINT.y }), 'KEY_NOT_ON_CURVE'],
    ['a future version of the private key', eciesPrivate({}, ECIES_VECTOR.d, 1), 'KEY_NOT_SUPPORTED'],
    ['no public part', entry('EciesAeadHkdfPrivateKey', orphan), 'KEYSET_MALFORMED'],
    ['no public part for HPKE', entry('HpkePrivateKey', hpkeOrphan), 'KEYSET_MALFORMED'],
    ['an HPKE key of 31 bytes', hpkePrivate({}, HPKE_VECTOR.sk.subarray(1)), 'KEY_OUT_OF_RANGE'],
    [
      'an HPKE key that does not match its public key',
      hpkePrivate({}, hex('11'.repeat(32))),
      'KEY_PAIR_MISMATCH',
    ],
    [
      'a flipped bit in the HPKE public key',
      hpkePrivate({ publicKey: withTopBit(HPKE_VECTOR.pk) }),
      'KEY_PAIR_MISMATCH',
    ],
  ];

  it('is a variant of a valid keyset that is accepted', async () => {
    for (const key of [eciesPrivate(), hpkePrivate()]) {
      expect((await readPrivateKeyset(keyset([key]))).keys).toHaveLength(1);
    }
  });

  it.each(faults)('with %s is rejected', async (_title, key, fault) => {
    expect(await faultOf(() => readPrivateKeyset(keyset([key])))).toBe(fault);
  });

  it('is rejected without the secret in the error message', async () => {
    const error = await readPrivateKeyset(keyset([eciesPrivate(OTHER_POINT)])).catch((e: Error) => e);
    expect(String(error)).not.toMatch(/c9afa9d8/i);
    expect(String(error)).toContain('restore');
  });
});

describe('an HPKE public key of small order', () => {
  // The points of small order on Curve25519 (RFC 7748), each also with the top bit set, which X25519 ignores. Such a
  // point makes every shared secret zero, so crypto engines refuse to derive a secret from it.
  const p = 2n ** 255n - 19n;
  const others = [
    325606250916557431795983626356110631294008115727848805560023387167927233504n,
    39382357235489614581723060781553021112529911719440698176882885853963445705823n,
  ];
  const little = (u: bigint) => Buffer.from(u.toString(16).padStart(64, '0'), 'hex').reverse();
  const points = [0n, 1n, p - 1n, p, p + 1n, ...others].flatMap((u) => [u, u + 2n ** 255n]).map(little);

  it.each(points.map((point) => [point.toString('hex'), point] as const))(
    'is rejected: %s',
    async (_hex, point) => {
      const pair = (await crypto.subtle.generateKey('X25519', false, ['deriveBits'])) as CryptoKeyPair;
      const key = await crypto.subtle.importKey('raw', Uint8Array.from(point), 'X25519', false, []);
      const shared = crypto.subtle.deriveBits({ name: 'X25519', public: key }, pair.privateKey, 256);
      await expect(shared).rejects.toThrow();
      const set = keyset([hpkePublic({ publicKey: point })]);
      expect(await faultOf(() => readPublicKeyset(set))).toBe('KEY_OF_SMALL_ORDER');
    },
  );
});

describe('a damaged private keyset', () => {
  it('is read or rejected with a ConsentError, never with another error', async () => {
    const sets = [keyset([eciesPrivate()]), keyset([hpkePrivate()])];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...sets), fc.nat(), fc.nat({ max: 255 }), async (set, at, byte) => {
        const damaged = Uint8Array.from(set);
        damaged[at % set.length] = byte;
        const read = readPrivateKeyset(damaged).then(() => 'read');
        expect(await Promise.any([read, faultOf(() => read)])).toBeTypeOf('string');
      }),
      { numRuns: rounds(300) },
    );
  });
});

function withTopBit(key: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(key);
  copy[31]! |= 0x80;
  return copy;
}
