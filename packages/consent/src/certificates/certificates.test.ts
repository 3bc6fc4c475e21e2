import 'reflect-metadata'; // @peculiar/x509 does not load without this import
import { generateKeys, type Issued, leaf, NOW, root, YEAR_MS } from '@measurement-exchange/testkit/issuing';
import { CERTIFICATES } from '@measurement-exchange/testkit/opensslVectors';
import { rounds } from '@measurement-exchange/testkit/rounds';
import * as x509 from '@peculiar/x509';
import fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorOf, faultOf, flipped } from '../../test/errors.ts';
import { certificateParts, parseCertificate } from './certificates.ts';

const hex = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString('hex');
let issuer: Issued;
let issued: Issued;

beforeAll(async () => {
  issuer = await root('CN=Streamly root');
  issued = await leaf(issuer);
});

describe('parseCertificate', () => {
  it('returns the names, dates, identifiers, key and usages of a certificate', () => {
    const { der, publicKey, ...described } = parseCertificate(issued.der);
    expect(der).toBe(issued.der);
    expect({
      ...described,
      subjectKeyIdentifier: hex(described.subjectKeyIdentifier),
      authorityKeyIdentifier: hex(described.authorityKeyIdentifier),
    }).toEqual({
      subject: 'CN=Streamly TV',
      issuer: 'CN=Streamly root',
      parties: [],
      serialNumber: new x509.X509Certificate(Uint8Array.from(issued.der)).serialNumber,
      subjectKeyIdentifier: issued.ski,
      authorityKeyIdentifier: issuer.ski,
      notBefore: new Date(NOW.getTime() - YEAR_MS),
      notAfter: new Date(NOW.getTime() + 10 * YEAR_MS),
      isCa: false,
      keyUsages: ['digitalSignature'],
      unknownCriticalExtensions: [],
    });
    expect(publicKey).toMatchObject({ keyType: 'EC', curve: 'P-256' });
  });

  it('returns the exact bytes of the public key', async () => {
    const spki = await crypto.subtle.exportKey('spki', issued.keys.publicKey);
    expect(hex(parseCertificate(issued.der).publicKey.spki)).toBe(hex(new Uint8Array(spki)));
  });

  it('reports that a root is the certificate of an authority', () => {
    expect(parseCertificate(issuer.der)).toMatchObject({ isCa: true, keyUsages: ['keyCertSign', 'cRLSign'] });
  });

  it('accepts a certificate without extensions', async () => {
    const absent = 'absent' as const;
    const bare = await leaf(issuer, { ca: absent, usages: absent, ski: absent, aki: absent });
    const described = parseCertificate(bare.der);
    for (const member of ['subjectKeyIdentifier', 'authorityKeyIdentifier', 'keyUsages']) {
      expect(described).not.toHaveProperty(member);
    }
    expect(described.isCa).toBe(false);
  });

  it('lists the unknown critical extensions', async () => {
    const extension = (oid: string, critical: boolean) =>
      new x509.Extension(oid, critical, Uint8Array.of(5, 0));
    const extensions = [
      extension('1.2.3.4', true),
      extension('1.2.3.5', false),
      extension('2.5.29.30', true),
    ];
    const { der } = await leaf(issuer, { extensions });
    expect(parseCertificate(der).unknownCriticalExtensions).toEqual(['1.2.3.4', '2.5.29.30']);
  });

  it.each([
    ['p256', { keyType: 'EC', curve: 'P-256' }],
    ['p384', { keyType: 'EC', curve: 'P-384' }],
    ['p521', { keyType: 'EC', curve: 'P-521' }],
    ['rsa', { keyType: 'RSA' }],
  ] as const)('reads a certificate made with openssl for a key of %s', (name, kind) => {
    const { publicKey } = parseCertificate(Buffer.from(CERTIFICATES[name], 'base64'));
    const { spki, ...kindOfKey } = publicKey;
    expect(kindOfKey).toEqual(kind);
    expect(spki.length).toBeGreaterThan(60);
  });

  it('returns the OID of an unknown key type', async () => {
    const keys = await generateKeys({ name: 'Ed25519' });
    expect(parseCertificate((await leaf(issuer, { keys })).der).publicKey.keyType).toBe('1.3.101.112');
  });

  it('reads a certificate from a view into a larger buffer', () => {
    const around = Buffer.concat([Buffer.alloc(3, 0x30), issued.der, Buffer.alloc(3)]);
    const view = around.subarray(3, 3 + issued.der.length);
    expect(parseCertificate(view).subject).toBe('CN=Streamly TV');
  });
});

describe('bytes that are not exactly one certificate in DER', () => {
  /** Writes the length of the outer sequence with one byte more than needed. */
  const longForm = (der: Uint8Array) => Buffer.concat([Buffer.of(0x30, 0x83, 0), der.subarray(2)]);
  const indefinite = (der: Uint8Array) =>
    Buffer.concat([Buffer.of(0x30, 0x80), der.subarray(4), Buffer.alloc(2)]);
  /**
   * Encodes the length of the set in the subject's name in two bytes instead of one, and adds 1 to all enclosing
   * lengths.
   */
  const longName = (der: Uint8Array) => {
    const { subject } = certificateParts(der);
    const at = subject.byteOffset - der.byteOffset;
    const changed = Buffer.concat([
      der.subarray(0, at),
      Buffer.of(0x30, subject[1]! + 1, 0x31, 0x81),
      subject.subarray(3),
      der.subarray(at + subject.length),
    ]);
    for (const length of [2, 6]) changed.writeUInt16BE(changed.readUInt16BE(length) + 1, length);
    return changed;
  };
  const bad: [string, () => Uint8Array][] = [
    ['an empty array', () => new Uint8Array()],
    ['text', () => Buffer.from('hello')],
    ['PEM', () => Buffer.from(issued.pem)],
    ['base64', () => Buffer.from(Buffer.from(issued.der).toString('base64'))],
    ['a truncated certificate', () => issued.der.subarray(0, -1)],
    ['a certificate with a byte after it', () => Buffer.concat([issued.der, Buffer.of(0)])],
    ['a chain', () => Buffer.concat([issued.der, issuer.der])],
    ['an empty sequence', () => Buffer.of(0x30, 0)],
    ['a length that is not in its shortest form', () => longForm(issued.der)],
    ['an indefinite length', () => indefinite(issued.der)],
    ['a nested length that is not in its shortest form', () => longName(issued.der)],
    [
      'more than 15,000 bytes',
      () => Buffer.concat([Buffer.of(0x30, 0x82, 0x4e, 0x20), Buffer.alloc(20_000)]),
    ],
  ];

  it.each(bad)('such as %s are rejected', async (_title, make) => {
    const error = await errorOf(() => parseCertificate(make()));
    expect(error.code).toBe('CERTIFICATE_MALFORMED');
    expect(error.message).toContain('in DER');
  });

  it('such as a certificate with two different signature algorithms are rejected', async () => {
    const { signatureAlgorithm } = certificateParts(issued.der);
    expect(signatureAlgorithm).toBe('1.2.840.10045.4.3.2');
    // A certificate names its signature algorithm twice, and the two names must be equal. Change only the outer one,
    // from ecdsa-with-SHA256 to ecdsa-with-SHA384.
    const oid = Buffer.from('06082a8648ce3d040302', 'hex');
    const changed = Buffer.from(issued.der);
    changed[changed.lastIndexOf(oid) + oid.length - 1] = 3;
    expect(await faultOf(() => parseCertificate(changed))).toBe('CERTIFICATE_MALFORMED');
  });

  it('such as a certificate with a duplicate extension are rejected', async () => {
    const twice = new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true);
    const { der } = await leaf(issuer, { extensions: [twice] });
    expect(await faultOf(() => parseCertificate(der))).toBe('CERTIFICATE_MALFORMED');
  });

  it('such as a certificate with any flipped bit throw no error other than CERTIFICATE_MALFORMED', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat({ max: 8 * issued.der.length - 1 }), async (bit) => {
        try {
          expect(parseCertificate(flipped(issued.der, bit)).notAfter).toBeInstanceOf(Date);
        } catch (error) {
          expect(await faultOf(() => Promise.reject(error))).toBe('CERTIFICATE_MALFORMED');
        }
      }),
      { numRuns: rounds(300) },
    );
  });
});
