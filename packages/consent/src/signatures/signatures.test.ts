import 'reflect-metadata'; // @peculiar/x509 does not load without this import
import { generateKeyPairSync, type KeyObject, sign, verify, X509Certificate } from 'node:crypto';
import { SIGNATURE_ALGORITHMS, type SignatureAlgorithmName } from '@measurement-exchange/contract';
import { CERTIFICATES, MESSAGE, SIGNATURES } from '@measurement-exchange/testkit/opensslVectors';
import { rounds } from '@measurement-exchange/testkit/rounds';
import * as x509 from '@peculiar/x509';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { faultOf, flipped } from '../../test/errors.ts';
import { parseCertificate, type X509 } from '../certificates/certificates.ts';
import { createSigner, verifySignature } from './signatures.ts';

const message = new TextEncoder().encode(MESSAGE);
const NAMES = Object.keys(SIGNATURE_ALGORITHMS) as SignatureAlgorithmName[];
const oid = (name: string) => SIGNATURE_ALGORITHMS[name as SignatureAlgorithmName].oid;

interface Holder {
  pem: string;
  certificate: X509;
}
const KEYS = { 'P-256': 'P-256', 'P-384': 'P-384', 'P-521': 'P-521', RSA: 'RSA' } as const;
const holders = {} as Record<keyof typeof KEYS | 'Ed25519' | 'secp256k1', Holder>;

/** Wraps a key from node:crypto in a certificate. The signer of the certificate does not matter here. */
async function holder(pair: { privateKey: KeyObject; publicKey: KeyObject }): Promise<Holder> {
  const spki = Uint8Array.from(pair.publicKey.export({ format: 'der', type: 'spki' }));
  const signing = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
    'sign',
    'verify',
  ]);
  const made = await x509.X509CertificateGenerator.create({
    subject: 'CN=holder',
    issuer: 'CN=issuer',
    publicKey: new x509.PublicKey(spki),
    signingKey: signing.privateKey,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
  });
  return {
    pem: pair.privateKey.export({ format: 'pem', type: 'pkcs8' }) as string,
    certificate: parseCertificate(new Uint8Array(made.rawData)),
  };
}

beforeAll(async () => {
  for (const curve of ['P-256', 'P-384', 'P-521', 'secp256k1'] as const) {
    holders[curve] = await holder(generateKeyPairSync('ec', { namedCurve: curve }));
  }
  holders.RSA = await holder(generateKeyPairSync('rsa', { modulusLength: 2048 }));
  holders.Ed25519 = await holder(generateKeyPairSync('ed25519'));
});

const keyOf = (name: SignatureAlgorithmName) => {
  const algorithm = SIGNATURE_ALGORITHMS[name];
  return holders['curve' in algorithm ? algorithm.curve : 'RSA'];
};

describe('a signature by createSigner', () => {
  it.each(Object.values(KEYS))('with a %s key is valid for node:crypto and verifySignature', async (key) => {
    const { pem, certificate } = holders[key];
    const signer = await createSigner(pem);
    const signed = await signer.sign(message);
    expect(signed.message).toBe(message);
    const { hash } = SIGNATURE_ALGORITHMS[signed.signatureAlgorithm as SignatureAlgorithmName];
    const { publicKey } = new X509Certificate(certificate.der);
    expect(verify(hash, signed.message, publicKey, signed.signature)).toBe(true);
    await verifySignature(signed, certificate);
  });

  it('names the default algorithm of its key', async () => {
    const names = await Promise.all(
      Object.values(KEYS).map(async (key) => (await createSigner(holders[key].pem)).sign(message)),
    );
    expect(names.map(({ signatureAlgorithm }) => signatureAlgorithm)).toEqual([
      'ECDSA_P256_SHA256',
      'ECDSA_P384_SHA384',
      'ECDSA_P521_SHA512',
      'RSA_PKCS1_SHA256',
    ]);
  });

  it('is valid for random messages, which are views of a larger buffer', async () => {
    const { pem, certificate } = holders['P-256'];
    const signer = await createSigner(pem);
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), async (bytes) => {
        const view = Buffer.concat([Buffer.alloc(5), bytes, Buffer.alloc(5)]).subarray(5, 5 + bytes.length);
        await verifySignature({ ...(await signer.sign(view)), message: bytes }, certificate);
      }),
      { numRuns: rounds(50) },
    );
  });
});

describe('a signature made by node:crypto', () => {
  it.each(NAMES)('with %s is valid by name and OID, and invalid with any other algorithm', async (name) => {
    const { pem, certificate } = keyOf(name);
    const signature = sign(SIGNATURE_ALGORITHMS[name].hash, message, pem);
    await verifySignature({ message, signature, signatureAlgorithm: name }, certificate);
    await verifySignature({ message, signature, signatureAlgorithm: oid(name) }, certificate);
    for (const other of NAMES.filter((n) => n !== name)) {
      const sameKind = SIGNATURE_ALGORITHMS[other].keyType === SIGNATURE_ALGORITHMS[name].keyType;
      const byName = sameKind && !('curve' in SIGNATURE_ALGORITHMS[name]);
      const faults = [other, oid(other)].map((signatureAlgorithm) =>
        faultOf(() => verifySignature({ message, signature, signatureAlgorithm }, certificate)),
      );
      expect(await Promise.all(faults)).toEqual([
        byName ? 'SIGNATURE_INVALID' : 'SIGNATURE_ALGORITHM_MISMATCH',
        sameKind ? 'SIGNATURE_INVALID' : 'SIGNATURE_ALGORITHM_MISMATCH',
      ]);
    }
  });

  it('without an algorithm name is verified with the default algorithm of its key', async () => {
    const own = ['ECDSA_P256_SHA256', 'ECDSA_P384_SHA384', 'ECDSA_P521_SHA512', 'RSA_PKCS1_SHA256'];
    for (const name of NAMES) {
      const { pem, certificate } = keyOf(name);
      const signature = sign(SIGNATURE_ALGORITHMS[name].hash, message, pem);
      const verified = verifySignature({ message, signature }, certificate);
      if (own.includes(name)) await verified;
      else expect(await faultOf(() => verified)).toBe('SIGNATURE_INVALID');
    }
  });

  it('with P-256 and SHA-512 is valid only by OID, because the OID names no curve', async () => {
    const { pem, certificate } = holders['P-256'];
    const signature = sign('sha512', message, pem);
    const verdict = (signatureAlgorithm?: string) =>
      verifySignature({ message, signature, signatureAlgorithm }, certificate);
    await verdict(oid('ECDSA_P521_SHA512'));
    expect(await faultOf(() => verdict('ECDSA_P521_SHA512'))).toBe('SIGNATURE_ALGORITHM_MISMATCH');
    expect(await faultOf(() => verdict('ECDSA_P256_SHA256'))).toBe('SIGNATURE_INVALID');
    expect(await faultOf(() => verdict())).toBe('SIGNATURE_INVALID');
  });

  it('in IEEE P1363 form is rejected with SIGNATURE_MALFORMED', async () => {
    const { pem, certificate } = holders['P-256'];
    const signature = sign('sha256', message, { key: pem, dsaEncoding: 'ieee-p1363' });
    expect(await faultOf(() => verifySignature({ message, signature }, certificate))).toBe(
      'SIGNATURE_MALFORMED',
    );
  });

  it('with PSS padding is rejected with SIGNATURE_INVALID', async () => {
    const { pem, certificate } = holders.RSA;
    const RSA_PKCS1_PSS_PADDING = 6;
    const signature = sign('sha256', message, { key: pem, padding: RSA_PKCS1_PSS_PADDING });
    expect(await faultOf(() => verifySignature({ message, signature }, certificate))).toBe(
      'SIGNATURE_INVALID',
    );
  });
});

describe('a signature made with openssl', () => {
  it.each(SIGNATURES)(
    'by the %s key with %s is valid by name and OID',
    async (key, signatureAlgorithm, base64) => {
      const certificate = parseCertificate(Buffer.from(CERTIFICATES[key], 'base64'));
      const signature = Buffer.from(base64, 'base64');
      for (const name of [signatureAlgorithm, oid(signatureAlgorithm)]) {
        const signed = { message, signature, signatureAlgorithm: name };
        await expect(verifySignature(signed, certificate)).resolves.toBeUndefined();
      }
    },
  );
});

describe('verifySignature', () => {
  it('rejects every flipped bit of the message or the signature, and a longer signature', async () => {
    const { pem, certificate } = holders['P-256'];
    const { signature } = await (await createSigner(pem)).sign(message);
    for (let bit = 0; bit < 8 * message.length; bit++) {
      const changed = verifySignature({ message: flipped(message, bit), signature }, certificate);
      expect(await faultOf(() => changed)).toBe('SIGNATURE_INVALID');
    }
    for (let bit = 0; bit < 8 * signature.length; bit++) {
      const changed = verifySignature({ message, signature: flipped(signature, bit) }, certificate);
      expect(await faultOf(() => changed)).toMatch(/^SIGNATURE_(?:INVALID|MALFORMED)$/);
    }
    const longer = Buffer.concat([signature, Buffer.of(0)]);
    expect(await faultOf(() => verifySignature({ message, signature: longer }, certificate))).toBe(
      'SIGNATURE_MALFORMED',
    );
  });

  it('rejects the certificate of another key', async () => {
    const { pem } = holders['P-256'];
    const signed = await (await createSigner(pem)).sign(message);
    const other = await holder(generateKeyPairSync('ec', { namedCurve: 'P-256' }));
    expect(await faultOf(() => verifySignature(signed, other.certificate))).toBe('SIGNATURE_INVALID');
    expect(await faultOf(() => verifySignature(signed, holders.RSA.certificate))).toBe(
      'SIGNATURE_ALGORITHM_MISMATCH',
    );
  });

  it('rejects an unknown algorithm with SIGNATURE_ALGORITHM_UNKNOWN', async () => {
    const { pem, certificate } = holders['P-256'];
    const { signature } = await (await createSigner(pem)).sign(message);
    for (const signatureAlgorithm of [
      '',
      '1.2.3',
      'ECDSA',
      'toString',
      '__proto__',
      '1.2.840.113549.1.1.5',
    ]) {
      const verified = verifySignature({ message, signature, signatureAlgorithm }, certificate);
      expect(await faultOf(() => verified)).toBe('SIGNATURE_ALGORITHM_UNKNOWN');
    }
  });

  it('rejects an Ed25519 or secp256k1 key with KEY_NOT_SUPPORTED', async () => {
    for (const key of ['Ed25519', 'secp256k1'] as const) {
      const { certificate, pem } = holders[key];
      const signature = sign(key === 'Ed25519' ? null : 'sha256', message, pem);
      for (const signatureAlgorithm of [undefined, 'ECDSA_P256_SHA256', oid('ECDSA_P256_SHA256')]) {
        const verified = verifySignature({ message, signature, signatureAlgorithm }, certificate);
        expect(await faultOf(() => verified)).toBe('KEY_NOT_SUPPORTED');
      }
      expect(await faultOf(() => createSigner(pem))).toBe('KEY_NOT_SUPPORTED');
    }
  });

  it('rejects a public key whose point is not on its curve', async () => {
    const { pem, certificate } = holders['P-256'];
    const signed = await (await createSigner(pem)).sign(message);
    const spki = flipped(certificate.publicKey.spki, 8 * certificate.publicKey.spki.length - 1);
    const changed = { ...certificate, publicKey: { ...certificate.publicKey, spki } };
    expect(await faultOf(() => verifySignature(signed, changed))).toBe('SIGNATURE_INVALID');
  });

  it('rejects random bytes as a signature with a SIGNATURE error code', async () => {
    const bytes = fc.uint8Array({ maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(bytes, fc.constantFrom('P-256', 'RSA' as const), async (signature, key) => {
        const verified = verifySignature({ message, signature }, holders[key].certificate);
        expect(await faultOf(() => verified)).toMatch(/^SIGNATURE_/);
      }),
      { numRuns: rounds(200) },
    );
  });
});

describe('a private key', () => {
  const refused = (pem: string) => faultOf(() => createSigner(pem));

  it('is read from a PEM file with other text around it', async () => {
    const { pem, certificate } = holders['P-256'];
    const signer = await createSigner(`Bag Attributes: x\n${pem.replaceAll('\n', '\r\n')}\nmore`);
    await expect(verifySignature(await signer.sign(message), certificate)).resolves.toBeUndefined();
  });

  it('in another format is rejected with an error that shows the openssl command to convert it', async () => {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const sec1 = privateKey.export({ format: 'pem', type: 'sec1' }) as string;
    const encrypted = privateKey.export({
      format: 'pem',
      type: 'pkcs8',
      cipher: 'aes-256-cbc',
      passphrase: 'x',
    }) as string;
    for (const pem of [sec1, encrypted]) {
      expect(await refused(pem)).toBe('PRIVATE_KEY_MALFORMED');
      await expect(createSigner(pem)).rejects.toThrow('openssl pkcs8 -topk8 -nocrypt');
    }
  });

  it('that is damaged is rejected, and the error does not show its text', async () => {
    const { pem } = holders['P-256'];
    const [head, body, tail] = /^(-.+-\n)([\s\S]+?)(-.+-\n)$/.exec(pem)!.slice(1) as [string, string, string];
    const der = Buffer.from(body, 'base64');
    const put = (bytes: Uint8Array) => `${head}${Buffer.from(bytes).toString('base64')}\n${tail}`;
    await createSigner(put(der));
    const bad = [
      '',
      'secret',
      head + tail,
      `${head}***${tail}`,
      put(der.subarray(1)),
      put(der.subarray(0, 9)),
    ];
    bad.push(put(Buffer.of(0x30, 0)), put(Buffer.from('300d020100300906072a8648ce3d0201', 'hex')));
    for (const text of bad) {
      expect(await refused(text)).toBe('PRIVATE_KEY_MALFORMED');
      const error = await createSigner(text).catch((e: Error) => e);
      expect(String(error)).not.toContain('secret');
    }
  });
});
