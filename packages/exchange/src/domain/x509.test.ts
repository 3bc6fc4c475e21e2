import 'reflect-metadata';
import { createRoot, issueLeaf, type Root } from '@measurement-exchange/sdk/identity';
import { rounds } from '@measurement-exchange/testkit/rounds';
import * as x509 from '@peculiar/x509';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { BadCertificate, describeCertificate, readCertificate } from './x509.ts';

const NOW = Date.UTC(2027, 0, 15, 12, 30, 45, 678);
let root: Root;
let leaf: Uint8Array;

beforeAll(async () => {
  root = await createRoot('Test root', NOW);
  leaf = (await issueLeaf(root, 'Test leaf', NOW)).der;
});

describe('a certificate', () => {
  it('is described by its key identifier and its validity', () => {
    const described = describeCertificate(leaf);
    expect(described.subjectKeyIdentifier).toHaveLength(20);
    expect(described.notBefore).toBe('2027-01-15T11:30:45.000000Z');
    expect(described.notAfter).toBe('2037-01-12T11:30:45.000000Z');
  });

  it('requires a subject key identifier of 1 to 64 bytes, but no authority key identifier', async () => {
    const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, false, [
      'sign',
      'verify',
    ]);
    const make = async (...extensions: x509.Extension[]) => {
      const signingAlgorithm = { name: 'ECDSA', hash: 'SHA-256' };
      const made = await x509.X509CertificateGenerator.createSelfSigned({
        keys,
        signingAlgorithm,
        extensions,
      });
      return new Uint8Array(made.rawData);
    };
    const described = describeCertificate(await make(new x509.SubjectKeyIdentifierExtension('0102ff')));
    expect(described.subjectKeyIdentifier).toEqual(Uint8Array.of(1, 2, 255));
    const bare = await make();
    expect(() => describeCertificate(bare)).toThrow('has no subject key identifier');
    const long = await make(new x509.SubjectKeyIdentifierExtension('00'.repeat(65)));
    expect(() => describeCertificate(long)).toThrow('1 to 64 bytes');
    const longest = await make(new x509.SubjectKeyIdentifierExtension('00'.repeat(64)));
    expect(describeCertificate(longest).subjectKeyIdentifier).toHaveLength(64);
    const empty = await make(new x509.SubjectKeyIdentifierExtension(''));
    expect(() => describeCertificate(empty)).toThrow('has no subject key identifier');
  });
});

describe('the certificate of a request', () => {
  const refusal = (field: string, description: string) =>
    expect.objectContaining({ reason: 'INVALID_FIELD_VALUE', violations: [{ field, description }] });
  const pem = () => new x509.X509Certificate(Uint8Array.from(leaf)).toString('pem');

  it('can be in DER or PEM, with the same result', () => {
    const read = readCertificate({ x509Der: leaf });
    expect(read).toEqual({ x509Der: leaf, ...describeCertificate(leaf) });
    for (const text of [pem(), `\r\n ${pem()}\n\n`, pem().replaceAll('\n', '\r\n')]) {
      const { x509Der, ...described } = readCertificate({ x509Pem: text });
      expect([Buffer.from(x509Der), described]).toEqual([Buffer.from(leaf), describeCertificate(leaf)]);
    }
  });

  it('must be in either DER or PEM, not both', () => {
    const refused = refusal('x509Der', 'must be given, or x509Pem in its place, but not both');
    expect(() => readCertificate({})).toThrow(refused);
    expect(() => readCertificate({ x509Der: leaf, x509Pem: pem() })).toThrow(refused);
  });

  it.each<[string, () => string]>([
    ['no text', () => ''],
    ['two certificates', () => pem() + pem()],
    [
      'a certificate with a key after it',
      () => `${pem()}-----BEGIN PRIVATE KEY-----\nAA==\n-----END PRIVATE KEY-----`,
    ],
    ['a certificate with text before it', () => `leaf ${pem()}`],
    ['a PEM of another type', () => pem().replaceAll('CERTIFICATE', 'PUBLIC KEY')],
    ['invalid base64 characters', () => pem().replace('M', '*')],
    ['padding in the middle', () => pem().replace('M', 'M=')],
  ])('is rejected if the PEM contains %s', (_title, text) => {
    const refused = refusal('x509Pem', 'must be the PEM of exactly one certificate');
    expect(() => readCertificate({ x509Pem: text() })).toThrow(refused);
  });

  it('is rejected with the name of its field', () => {
    const wrong = 'is not an X.509 certificate in DER';
    expect(() => readCertificate({ x509Der: Uint8Array.of(1) })).toThrow(refusal('x509Der', wrong));
    const x509Pem = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----';
    expect(() => readCertificate({ x509Pem })).toThrow(refusal('x509Pem', wrong));
  });

  it('is at most 15,000 bytes long', () => {
    const bytes = (length: number) => () => readCertificate({ x509Der: new Uint8Array(length) });
    expect(bytes(15_000)).toThrow(refusal('x509Der', 'is not an X.509 certificate in DER'));
    expect(bytes(15_001)).toThrow(refusal('x509Der', 'is longer than 15000 bytes'));
  });
});

describe('bytes that are not exactly one certificate in DER', () => {
  const bad: [string, () => Uint8Array][] = [
    ['an empty array', () => new Uint8Array()],
    ['text', () => Buffer.from('hello')],
    ['PEM', () => Buffer.from(root.certificatePem)],
    ['base64', () => Buffer.from(Buffer.from(leaf).toString('base64'))],
    ['a certificate cut short', () => leaf.subarray(0, -1)],
    ['a certificate with a byte after it', () => Buffer.concat([leaf, Buffer.of(0)])],
    ['two certificates', () => Buffer.concat([leaf, leaf])],
  ];
  it.each(bad)('%s is rejected', (_title, make) => {
    expect(() => describeCertificate(make())).toThrow('is not an X.509 certificate in DER');
  });

  it('cause no other error than BadCertificate', () => {
    const changes = fc.array(fc.tuple(fc.nat({ max: leaf.length - 1 }), fc.nat({ max: 255 })), {
      minLength: 1,
      maxLength: 3,
    });
    fc.assert(
      fc.property(changes, (list) => {
        const mutated = Uint8Array.from(leaf);
        for (const [index, byte] of list) mutated[index] = byte;
        try {
          expect(describeCertificate(mutated).notAfter).toHaveLength(27);
        } catch (error) {
          expect(error).toBeInstanceOf(BadCertificate);
        }
      }),
      { numRuns: rounds(1000) },
    );
  });
});
