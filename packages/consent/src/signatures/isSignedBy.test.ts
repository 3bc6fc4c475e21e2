import 'reflect-metadata';
import { type KeyObject, sign } from 'node:crypto';
import { SIGNATURE_ALGORITHMS, type SignedMessage } from '@measurement-exchange/contract';
import { CERTIFICATES, MESSAGE, SIGNATURES } from '@measurement-exchange/testkit/opensslVectors';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import * as x509 from '@peculiar/x509';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseCertificate } from '../certificates/certificates.ts';
import { isSignedBy as isSignedByCertificate } from './signatures.ts';

const isSignedBy = (signed: SignedMessage, der: Uint8Array) =>
  isSignedByCertificate(signed, parseCertificate(der));
const message = Buffer.from(MESSAGE);
const certificate = (name: keyof typeof CERTIFICATES) => Buffer.from(CERTIFICATES[name], 'base64');
const oid = (name: string) => SIGNATURE_ALGORITHMS[name as keyof typeof SIGNATURE_ALGORITHMS].oid;

/** Returns the OpenSSL test vector for this algorithm. */
function vector(algorithm: string) {
  const [key, , signature] = SIGNATURES.find(([, name]) => name === algorithm)!;
  return { der: certificate(key), signature: Buffer.from(signature, 'base64') };
}

type SignOptions = Parameters<typeof sign>[2] & object;

/** Creates a key with a certificate. Returns the certificate, and a function that signs the message with the key. */
async function fresh(algorithm: EcKeyGenParams | RsaHashedKeyGenParams) {
  const keys = await crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    keys,
    signingAlgorithm: { name: algorithm.name, hash: 'SHA-256' },
  });
  const key = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
  return {
    der: new Uint8Array(made.rawData),
    sign: (hash: string | null, options: Omit<SignOptions, 'key'> = {}) =>
      sign(hash, message, { key, format: 'der', type: 'pkcs8', ...options } as unknown as KeyObject),
  };
}
const P256 = { name: 'ECDSA', namedCurve: 'P-256' };
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
  hash: 'SHA-256',
};

describe('isSignedBy with a signature made by OpenSSL', () => {
  it.each(SIGNATURES)('accepts the %s key with %s, by algorithm name and by OID', async (_key, algorithm) => {
    const { der, signature } = vector(algorithm);
    expect(await isSignedBy({ message, signature, signatureAlgorithm: algorithm }, der)).toBe(true);
    expect(await isSignedBy({ message, signature, signatureAlgorithm: oid(algorithm) }, der)).toBe(true);
  });

  it.each(SIGNATURES)('rejects the %s key with %s under every other algorithm', async (_key, algorithm) => {
    const { der, signature } = vector(algorithm);
    for (const other of Object.keys(SIGNATURE_ALGORITHMS).filter((name) => name !== algorithm)) {
      expect(await isSignedBy({ message, signature, signatureAlgorithm: other }, der)).toBe(false);
      expect(await isSignedBy({ message, signature, signatureAlgorithm: oid(other) }, der)).toBe(false);
    }
  });

  it.each(SIGNATURES)('accepts the %s key with %s only for its own certificate', async (key, algorithm) => {
    const { signature } = vector(algorithm);
    for (const other of ['p256', 'p384', 'p521', 'rsa'] as const) {
      const signed = { message, signature, signatureAlgorithm: algorithm };
      expect(await isSignedBy(signed, certificate(other))).toBe(other === key);
    }
  });

  it('uses the default algorithm of the key if the message names none', async () => {
    const own = ['ECDSA_P256_SHA256', 'ECDSA_P384_SHA384', 'ECDSA_P521_SHA512', 'RSA_PKCS1_SHA256'];
    for (const [, algorithm] of SIGNATURES) {
      const { der, signature } = vector(algorithm);
      expect(await isSignedBy({ message, signature }, der)).toBe(own.includes(algorithm));
    }
  });

  it('rejects a changed message and a changed signature', async () => {
    const { der, signature } = vector('ECDSA_P256_SHA256');
    const flipped = (bytes: Uint8Array, bit: number) => {
      const copy = Uint8Array.from(bytes);
      copy[bit >> 3]! ^= 1 << (bit & 7);
      return copy;
    };
    // A step of seven flips at least one bit of every byte, at changing positions.
    const step = isStress ? 1 : 7;
    for (let bit = 0; bit < message.length * 8; bit += step) {
      expect(await isSignedBy({ message: flipped(message, bit), signature }, der)).toBe(false);
    }
    for (let bit = 0; bit < signature.length * 8; bit += step) {
      expect(await isSignedBy({ message, signature: flipped(signature, bit) }, der)).toBe(false);
    }
    expect(await isSignedBy({ message: message.subarray(1), signature }, der)).toBe(false);
    expect(await isSignedBy({ message, signature: Buffer.concat([signature, Buffer.of(0)]) }, der)).toBe(
      false,
    );
  });
});

describe('isSignedBy', () => {
  it('rejects a signature in IEEE P1363 form, with or without an algorithm', async () => {
    const key = await fresh(P256);
    const signature = key.sign('sha256', { dsaEncoding: 'ieee-p1363' });
    expect(signature).toHaveLength(64);
    expect(await isSignedBy({ message, signature: key.sign('sha256') }, key.der)).toBe(true);
    for (const signatureAlgorithm of [undefined, 'ECDSA_P256_SHA256', oid('ECDSA_P256_SHA256')]) {
      expect(await isSignedBy({ message, signature, signatureAlgorithm }, key.der)).toBe(false);
    }
  });

  it('accepts P-256 with SHA-512 only by OID, because the OID names no curve', async () => {
    const key = await fresh(P256);
    const signature = key.sign('sha512');
    const named = [oid('ECDSA_P521_SHA512'), 'ECDSA_P521_SHA512', 'ECDSA_P256_SHA256', undefined];
    const verified = named.map((signatureAlgorithm) =>
      isSignedBy({ message, signature, signatureAlgorithm }, key.der),
    );
    expect(await Promise.all(verified)).toEqual([true, false, false, false]);
  });

  it('rejects an RSA signature with PSS padding', async () => {
    const key = await fresh(RSA);
    const RSA_PKCS1_PSS_PADDING = 6;
    const signature = key.sign('sha256', { padding: RSA_PKCS1_PSS_PADDING });
    expect(await isSignedBy({ message, signature: key.sign('sha256') }, key.der)).toBe(true);
    expect(await isSignedBy({ message, signature, signatureAlgorithm: 'RSA_PKCS1_SHA256' }, key.der)).toBe(
      false,
    );
    expect(await isSignedBy({ message, signature }, key.der)).toBe(false);
  });

  it('rejects a signature of an Ed25519 key under every algorithm', async () => {
    const { der, sign } = await fresh({ name: 'Ed25519' } as EcKeyGenParams);
    const signature = sign(null);
    for (const signatureAlgorithm of [undefined, ...Object.keys(SIGNATURE_ALGORITHMS)]) {
      expect(await isSignedBy({ message, signature, signatureAlgorithm }, der)).toBe(false);
    }
  });

  it('returns false and does not throw for random signatures and unknown algorithms', async () => {
    const { der, signature } = vector('ECDSA_P256_SHA256');
    const bytes = fc.uint8Array({ maxLength: 100 });
    await fc.assert(
      fc.asyncProperty(
        bytes,
        fc.constantFrom(undefined, 'toString', '__proto__', '1.2.3'),
        async (a, name) => {
          expect(
            await isSignedBy({ message, signature: a, signatureAlgorithm: 'ECDSA_P256_SHA256' }, der),
          ).toBe(false);
          if (name)
            expect(await isSignedBy({ message, signature, signatureAlgorithm: name }, der)).toBe(false);
        },
      ),
      { numRuns: rounds(200) },
    );
  });
});
