/**
 * Tests that a provider and an exchange with strict checks accept the same certificates and the same requests. The only
 * exception is a certificate that does not name its party and is issued by a root for all parties. Only the exchange
 * accepts such a certificate.
 */
import 'reflect-metadata'; // @peculiar/x509 does not load without this import
import { createTrustStore, verifySignature } from '@measurement-exchange/consent';
import { type MeasurementInput, timestampOf } from '@measurement-exchange/contract';
import {
  generateKeys,
  type Issued,
  leaf as issue,
  NOW,
  type Options,
  root,
  YEAR_MS,
} from '@measurement-exchange/testkit/issuing';
import * as x509 from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import { requireUsable } from '../../src/domain/certificate.ts';
import { inspectConsent } from '../../src/domain/consent.ts';
import { describeCertificate } from '../../src/domain/x509.ts';
import { gatherConsent, verifySpec } from '../../src/operations/measurements/load.ts';

const ACME = 'measurementConsumers/acme';
const GLOBEX = 'measurementConsumers/globex';
const { digitalSignature, keyCertSign, keyEncipherment, nonRepudiation } = x509.KeyUsageFlags;
const RSA = {
  name: 'RSASSA-PKCS1-v1_5',
  modulusLength: 2048,
  publicExponent: Uint8Array.of(1, 0, 1),
  hash: 'SHA-256',
};
const message = new TextEncoder().encode('a MeasurementSpec');

/** The certificate and signature of the consumer, and the roots that both the exchange and the provider trust. */
interface Case {
  certificate: { der: Uint8Array; keys: CryptoKeyPair };
  roots: { party?: string; pem: string }[];
  party?: string;
  /** The time of the check, in years from now. */
  years?: number;
  sign?: (keys: CryptoKeyPair) => Promise<Signed>;
}
interface Signed {
  message: Uint8Array;
  signature: Uint8Array;
  signatureAlgorithm?: string;
}

const timeOf = ({ years = 0 }: Case) => new Date(NOW.getTime() + years * YEAR_MS);
const derOf = (pem: string) => Uint8Array.from(Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64'));

/**
 * Runs the exchange's checks of a new certificate and of a request that names it. Returns whether the exchange accepts
 * both.
 */
async function atExchange(given: Case): Promise<boolean> {
  const { certificate, roots, party = ACME } = given;
  const now = timestampOf(timeOf(given).getTime());
  const name = `${party}/certificates/c`;
  const stored = roots.map((each) => ({ party: each.party, x509Der: derOf(each.pem) }));
  try {
    const described = describeCertificate(certificate.der);
    requireUsable({ ...described, party, id: 'c', revocationState: undefined }, 'certificate', now);
  } catch {
    return false;
  }
  const input = {
    measurementConsumerCertificate: name,
    measurementSpec: await signedBy(given),
    dataProviders: {},
  } as unknown as MeasurementInput;
  const certificates = new Map([[name, { party, x509Der: certificate.der }]]);
  const { untrusted, areSpecsSigned } = await gatherConsent([verifySpec(input)], certificates, stored, now);
  const facts = { untrusted, isSpecSigned: areSpecsSigned[0]!, parties: new Map() };
  return inspectConsent(input, facts).length === 0;
}

/** Verifies the certificate and the signature as a provider does before it reads a requisition. */
async function atProvider(given: Case): Promise<boolean> {
  const { certificate, roots, party = ACME } = given;
  try {
    const trusted = await createTrustStore(roots).verify(party, certificate.der, timeOf(given));
    await verifySignature(await signedBy(given), trusted);
    return true;
  } catch {
    return false;
  }
}

const signatures = new WeakMap<Case, Promise<Signed>>();
function signedBy(given: Case): Promise<Signed> {
  const made = signatures.get(given) ?? (given.sign ?? signed)(given.certificate.keys);
  signatures.set(given, made);
  return made;
}

/** Signs the message. An ECDSA signature uses the hash that matches the curve, and is in DER. */
async function signed(keys: CryptoKeyPair): Promise<Signed> {
  const { sign } = process.getBuiltinModule('node:crypto');
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
  const { namedCurve } = keys.privateKey.algorithm as EcKeyAlgorithm;
  const hash = { 'P-384': 'sha384', 'P-521': 'sha512' }[namedCurve] ?? 'sha256';
  const isPlain = keys.privateKey.algorithm.name === 'Ed25519';
  const key = { key: pkcs8, format: 'der', type: 'pkcs8' } as const;
  return { message, signature: Uint8Array.from(sign(isPlain ? null : hash, message, key)) };
}

/** Creates a certificate that names its party. A provider requires the name if the root is trusted for all parties. */
const leaf = (by: Issued, options: Partial<Options> = {}) => issue(by, { party: ACME, ...options });

let own: Issued;
let other: Issued;
let good: Issued;
beforeAll(async () => {
  own = await root('CN=Root');
  other = await root('CN=Root');
  good = await leaf(own);
});

const trusting = (pem: string, party?: string) => [{ pem, ...(party !== undefined && { party }) }];
const changed = (der: Uint8Array, change: (bytes: Uint8Array) => unknown) => {
  const copy = Uint8Array.from(der);
  change(copy);
  return copy;
};
/** Encodes the outermost length in a form that BER allows and DER does not. */
const berLength = (der: Uint8Array) => Uint8Array.of(0x30, 0x83, 0, ...der.subarray(2));
const bytesOf = (length: number) => new x509.Extension('1.2.3.5', false, new Uint8Array(length));
const critical = (oid: string) => new x509.Extension(oid, true, Uint8Array.of(5, 0));

type Row = [title: string, accepted: boolean, make: () => Promise<Case> | Case];
const withLeaf = (options: Parameters<typeof leaf>[1]) => async (): Promise<Case> => ({
  certificate: await leaf(own, options),
  roots: trusting(own.pem),
});
const withDer = (change: (der: Uint8Array) => Uint8Array) => (): Case => ({
  certificate: { der: change(good.der), keys: good.keys },
  roots: trusting(own.pem),
});
const withKeys = (algorithm: object) => async (): Promise<Case> => ({
  certificate: await leaf(own, { keys: await generateKeys(algorithm) }),
  roots: trusting(own.pem),
});
const withRoot =
  (options: Parameters<typeof root>[1], years = 0) =>
  async (): Promise<Case> => {
    const issuer = await root('CN=Own', options);
    return { certificate: await leaf(issuer, { until: 30 }), roots: trusting(issuer.pem), years };
  };

const CERTIFICATES: Row[] = [
  ['that is valid', true, withLeaf({})],
  ['with a P-384 key', true, withKeys({ name: 'ECDSA', namedCurve: 'P-384' })],
  ['with a P-521 key', true, withKeys({ name: 'ECDSA', namedCurve: 'P-521' })],
  ['with an RSA key', true, withKeys(RSA)],
  ['with an Ed25519 key', false, withKeys({ name: 'Ed25519' })],
  [
    'with additional key usages',
    true,
    withLeaf({ usages: digitalSignature | nonRepudiation | keyEncipherment }),
  ],
  ['without key usages and basic constraints', true, withLeaf({ usages: 'absent', ca: 'absent' })],
  [
    'with a critical subject alternative name',
    true,
    withLeaf({
      party: undefined,
      extensions: [
        new x509.SubjectAlternativeNameExtension(
          [
            { type: 'dns', value: 'acme.example' },
            { type: 'url', value: `mex:${ACME}` },
          ],
          true,
        ),
      ],
    }),
  ],
  ['with an unknown extension that is not critical', true, withLeaf({ extensions: [bytesOf(10)] })],
  ['of a CA', false, withLeaf({ ca: true, usages: keyCertSign | digitalSignature })],
  ['without the key usage digitalSignature', false, withLeaf({ usages: keyEncipherment })],
  ['with an unknown critical extension', false, withLeaf({ extensions: [critical('1.2.3.4')] })],
  [
    'with critical name constraints',
    false,
    withLeaf({ extensions: [new x509.Extension('2.5.29.30', true, Uint8Array.of(0x30, 0))] }),
  ],
  ['with a duplicate extension', false, withLeaf({ extensions: [bytesOf(1), bytesOf(2)] })],
  ['without a subject key identifier', false, withLeaf({ ski: 'absent' })],
  ['without an authority key identifier', false, withLeaf({ aki: 'absent' })],
  [
    'with the key identifier of another trusted root',
    false,
    async () => ({
      certificate: await leaf(own, { aki: other.ski! }),
      roots: [...trusting(own.pem), ...trusting(other.pem)],
    }),
  ],
  [
    'issued by an untrusted root with the same name',
    false,
    async () => ({ certificate: await leaf(other), roots: trusting(own.pem) }),
  ],
  [
    'issued by an untrusted root, with the name and key identifier of the trusted root',
    false,
    async () => ({ certificate: await leaf(other, { aki: own.ski! }), roots: trusting(own.pem) }),
  ],
  ['with a wrong issuer name', false, withLeaf({ issuerName: 'CN=R00t' })],
  ['that has expired', false, withLeaf({ from: -2, until: -1 })],
  ['that is not valid yet', false, withLeaf({ from: 1, until: 2 })],
  ['that is the trusted root itself', false, () => ({ certificate: own, roots: trusting(own.pem) })],
  [
    'that is self-signed',
    false,
    async () => ({
      certificate: await root('CN=Self', { ca: false, usages: digitalSignature }),
      roots: trusting(own.pem),
    }),
  ],
  [
    'issued by an intermediate CA',
    false,
    async () => {
      const intermediate = await leaf(own, { name: 'CN=Intermediate', ca: true, usages: keyCertSign });
      return { certificate: await leaf(intermediate), roots: trusting(own.pem) };
    },
  ],
  [
    'with a modified signed part',
    false,
    withDer((der) =>
      changed(der, (b) =>
        b.fill(0x73, Buffer.from(der).indexOf('Streamly'), Buffer.from(der).indexOf('Streamly') + 1),
      ),
    ),
  ],
  [
    'with a modified signature',
    false,
    withDer((der) => changed(der, (b) => b.set([b.at(-1)! ^ 1], b.length - 1))),
  ],
  ['with a trailing byte', false, withDer((der) => Uint8Array.of(...der, 0))],
  ['that is truncated', false, withDer((der) => der.subarray(0, -1))],
  ['with a length in BER', false, withDer(berLength)],
  [
    'in PEM instead of DER',
    false,
    () => ({ certificate: { der: Buffer.from(good.pem), keys: good.keys }, roots: trusting(own.pem) }),
  ],
  ['of more than 15,000 bytes', false, withLeaf({ extensions: [bytesOf(15_000)] })],
  ['that is empty', false, withDer(() => new Uint8Array())],
  [
    'signed with RSA-PSS',
    false,
    async () => {
      const keys = await generateKeys({ ...RSA, name: 'RSA-PSS' });
      const algorithm = { name: 'RSA-PSS', hash: 'SHA-256', saltLength: 32 };
      return { certificate: await leaf({ ...own, keys }, { algorithm }), roots: trusting(own.pem) };
    },
  ],
  [
    'signed with SHA-1',
    false,
    async () => {
      const keys = await generateKeys({ ...RSA, hash: 'SHA-1' });
      const algorithm = { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-1' };
      return { certificate: await leaf({ ...own, keys }, { algorithm }), roots: trusting(own.pem) };
    },
  ],
  ['whose root has expired', false, withRoot({}, 21)],
  ['whose root is not valid yet', false, withRoot({ from: 0.5 })],
  [
    'whose root has expired and was renewed with the same key',
    true,
    async () => {
      const expired = await root('CN=Root', { keys: own.keys, from: -9, until: -1 });
      return { certificate: await leaf(own), roots: [...trusting(expired.pem), ...trusting(own.pem)] };
    },
  ],
  ['whose root is not a CA', false, withRoot({ ca: false })],
  ['whose root lacks the key usage keyCertSign', false, withRoot({ usages: digitalSignature })],
  ['whose root has an unknown critical extension', false, withRoot({ extensions: [critical('1.2.3.4')] })],
  ['that names another party', false, withLeaf({ party: GLOBEX })],
  [
    'from the root of its party, naming another party',
    false,
    async () => ({
      certificate: await leaf(own, { party: GLOBEX }),
      roots: trusting(own.pem, ACME),
    }),
  ],
  [
    'from the root of its party, naming no party',
    true,
    async () => ({
      certificate: await leaf(own, { party: undefined }),
      roots: trusting(own.pem, ACME),
    }),
  ],
  ['from the root of its party', true, () => ({ certificate: good, roots: trusting(own.pem, ACME) })],
  [
    'from a root for all parties, although its party has another root',
    false,
    () => ({ certificate: good, roots: [...trusting(own.pem), ...trusting(other.pem, ACME)] }),
  ],
  [
    'from the root of another party',
    false,
    () => ({ certificate: good, roots: [...trusting(own.pem, GLOBEX), ...trusting(other.pem)] }),
  ],
  [
    'from a root for all parties, while another party has another root',
    true,
    () => ({ certificate: good, roots: [...trusting(own.pem), ...trusting(other.pem, GLOBEX)] }),
  ],
];

const request = (sign: Case['sign']) => (): Case => ({
  certificate: good,
  roots: trusting(own.pem),
  sign,
});
const withSignature = (change: (made: Signed) => Signed) =>
  request(async (keys) => change(await signed(keys)));

const REQUESTS: Row[] = [
  ['that is valid', true, request(signed)],
  [
    'that names its algorithm',
    true,
    withSignature((s) => ({ ...s, signatureAlgorithm: 'ECDSA_P256_SHA256' })),
  ],
  [
    'that names its algorithm by OID',
    true,
    withSignature((s) => ({ ...s, signatureAlgorithm: '1.2.840.10045.4.3.2' })),
  ],
  ['signed with another key', false, request(() => signed(other.keys))],
  [
    'that names an algorithm of another curve',
    false,
    withSignature((s) => ({ ...s, signatureAlgorithm: 'ECDSA_P384_SHA384' })),
  ],
  [
    'that names an RSA algorithm',
    false,
    withSignature((s) => ({ ...s, signatureAlgorithm: 'RSA_PKCS1_SHA256' })),
  ],
  [
    'that names another hash by OID',
    false,
    withSignature((s) => ({ ...s, signatureAlgorithm: '1.2.840.10045.4.3.4' })),
  ],
  ['that names an unknown algorithm', false, withSignature((s) => ({ ...s, signatureAlgorithm: '1.2.3' }))],
  [
    'with a truncated signature',
    false,
    withSignature((s) => ({ ...s, signature: s.signature.subarray(0, -1) })),
  ],
  [
    'with a byte appended to the signature',
    false,
    withSignature((s) => ({ ...s, signature: Uint8Array.of(...s.signature, 0) })),
  ],
  [
    'with a length in BER in the signature',
    false,
    withSignature((s) => ({ ...s, signature: Uint8Array.of(0x30, 0x81, ...s.signature.subarray(1)) })),
  ],
  [
    'with a signature as raw r and s instead of DER',
    false,
    request(async ({ privateKey }) => ({
      message,
      signature: new Uint8Array(
        await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, message),
      ),
    })),
  ],
  ['without a signature', false, withSignature((s) => ({ ...s, signature: new Uint8Array() }))],
  [
    'with a signature over other bytes',
    false,
    withSignature((s) => ({ ...s, message: message.subarray(1) })),
  ],
];

async function verdicts(make: Row[2]): Promise<{ exchange: boolean; provider: boolean }> {
  const given = await make();
  return { exchange: await atExchange(given), provider: await atProvider(given) };
}

it('the tables have at least 40 certificates and 55 cases in total', () => {
  expect(CERTIFICATES.length).toBeGreaterThanOrEqual(40);
  expect(CERTIFICATES.length + REQUESTS.length).toBeGreaterThanOrEqual(55);
});

describe('a certificate', () => {
  it.each(CERTIFICATES)(
    '%s: accepted = %s by both the exchange and a provider',
    async (_title, accepted, make) => {
      expect(await verdicts(make)).toEqual({ exchange: accepted, provider: accepted });
    },
  );
});

it('a certificate that names no party, from a root for all parties, is accepted only by the exchange', async () => {
  const made = withLeaf({ party: undefined });
  expect(await verdicts(made)).toEqual({ exchange: true, provider: false });
});

describe('a signed request', () => {
  it.each(REQUESTS)(
    '%s: accepted = %s by both the exchange and a provider',
    async (_title, accepted, make) => {
      expect(await verdicts(make)).toEqual({ exchange: accepted, provider: accepted });
    },
  );
});
