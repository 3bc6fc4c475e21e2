import { describe, expect, it } from 'vitest';
import { defaultSignatureAlgorithm, findSignatureAlgorithm, signatureHash } from './common.ts';

const P256 = { keyType: 'EC', curve: 'P-256' };
const P384 = { keyType: 'EC', curve: 'P-384' };
const P521 = { keyType: 'EC', curve: 'P-521' };
const RSA = { keyType: 'RSA' };
const ECDSA_SHA384 = '1.2.840.10045.4.3.3';
const RSA_SHA512 = '1.2.840.113549.1.1.13';

describe('the algorithm of a signature', () => {
  it('defaults to the algorithm of the key', () => {
    expect([P256, P384, P521, RSA].map((key) => signatureHash(undefined, key))).toEqual([
      'SHA-256',
      'SHA-384',
      'SHA-512',
      'SHA-256',
    ]);
    expect([P256, P384, P521, RSA].map(defaultSignatureAlgorithm)).toEqual([
      'ECDSA_P256_SHA256',
      'ECDSA_P384_SHA384',
      'ECDSA_P521_SHA512',
      'RSA_PKCS1_SHA256',
    ]);
  });

  it('by name is accepted only for its key type and curve', () => {
    expect(signatureHash('ECDSA_P384_SHA384', P384)).toBe('SHA-384');
    expect(signatureHash('ECDSA_P384_SHA384', P256)).toBeUndefined();
    expect(signatureHash('ECDSA_P384_SHA384', RSA)).toBeUndefined();
    expect(signatureHash('RSA_PKCS1_SHA512', RSA)).toBe('SHA-512');
    expect(signatureHash('RSA_PKCS1_SHA512', P521)).toBeUndefined();
  });

  it('by OID is accepted for every curve of its key type', () => {
    expect([P256, P384, P521, RSA].map((key) => signatureHash(ECDSA_SHA384, key))).toEqual([
      'SHA-384',
      'SHA-384',
      'SHA-384',
      undefined,
    ]);
    expect([P256, RSA].map((key) => signatureHash(RSA_SHA512, key))).toEqual([undefined, 'SHA-512']);
  });

  it('is undefined for unsupported keys and unknown names', () => {
    expect(signatureHash(undefined, { keyType: 'ed25519' })).toBeUndefined();
    expect(signatureHash(undefined, { keyType: 'EC', curve: 'secp256k1' })).toBeUndefined();
    for (const name of ['', 'toString', '__proto__', '1.2.3']) {
      expect(findSignatureAlgorithm(name)).toBeUndefined();
      expect(signatureHash(name, P256)).toBeUndefined();
    }
  });
});
