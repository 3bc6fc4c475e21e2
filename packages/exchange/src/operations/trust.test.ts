import 'reflect-metadata'; // @peculiar/x509 does not load without this import
import { LEAF, ROOT } from '@measurement-exchange/testkit/opensslVectors';
import * as x509 from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import { trustCheck } from './trust.ts';

type Root = Parameters<typeof trustCheck>[0][number];

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const { keyCertSign, cRLSign, digitalSignature, keyEncipherment } = x509.KeyUsageFlags;
const NOW = '2030-06-01T00:00:00.000000Z';
const ACME = 'measurementConsumers/acme';
const GLOBEX = 'measurementConsumers/globex';

const keyPair = (algorithm: typeof P256 = P256) =>
  crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

interface Authority {
  name: string;
  keys: CryptoKeyPair;
}

/** Creates a root certificate that is valid except for the given changes. */
async function rootOf(
  { name, keys }: Authority,
  {
    party,
    notBefore = '2030-01-01',
    notAfter = '2031-01-01',
    ca = true,
    usage = keyCertSign | cRLSign,
  }: {
    party?: string;
    notBefore?: string;
    notAfter?: string;
    ca?: boolean;
    /** If null, the certificate has no key usage extension. */
    usage?: number | null;
  } = {},
): Promise<Root> {
  const made = await x509.X509CertificateGenerator.createSelfSigned({
    name,
    keys,
    signingAlgorithm: P256,
    notBefore: new Date(notBefore),
    notAfter: new Date(notAfter),
    extensions: [
      new x509.BasicConstraintsExtension(ca, undefined, true),
      ...(usage === null ? [] : [new x509.KeyUsagesExtension(usage, true)]),
      await x509.SubjectKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return { party, x509Der: new Uint8Array(made.rawData) };
}

/**
 * Issues a certificate from the authority. `key` is the public key that the authority key identifier identifies. If
 * `key` is null, the certificate has no authority key identifier. `namesOwnKey` tells whether the certificate has a
 * subject key identifier.
 */
async function leafOf(
  authority: Authority,
  {
    key = authority.keys.publicKey,
    namesOwnKey = true,
    ca,
    usage,
    critical,
  }: { key?: CryptoKey | null; namesOwnKey?: boolean; ca?: boolean; usage?: number; critical?: string } = {},
): Promise<Uint8Array> {
  const { publicKey } = await keyPair();
  const made = await x509.X509CertificateGenerator.create({
    subject: 'CN=leaf',
    issuer: authority.name,
    publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm: P256,
    notBefore: new Date('2030-01-01'),
    notAfter: new Date('2031-01-01'),
    extensions: [
      ...(namesOwnKey ? [await x509.SubjectKeyIdentifierExtension.create(publicKey)] : []),
      ...(key === null ? [] : [await x509.AuthorityKeyIdentifierExtension.create(key)]),
      ...(ca === undefined ? [] : [new x509.BasicConstraintsExtension(ca, undefined, true)]),
      ...(usage === undefined ? [] : [new x509.KeyUsagesExtension(usage, true)]),
      ...(critical === undefined ? [] : [new x509.Extension(critical, true, Uint8Array.of(5, 0))]),
    ],
  });
  return new Uint8Array(made.rawData);
}

/** Returns why a certificate of Acme is not trusted, or an empty string if it is trusted. */
async function found(x509Der: Uint8Array, roots: Root[], { party = ACME, now = NOW } = {}): Promise<string> {
  return (await trustCheck(roots, now)({ party, x509Der })) ?? '';
}

const STRANGER = /was not issued by a root that is trusted for/;
let good: Authority;
/** An authority that has the same name as `good`, but different keys. */
let namesake: Authority;
let leaf: Uint8Array;

beforeAll(async () => {
  good = { name: 'CN=root', keys: await keyPair() };
  namesake = { name: 'CN=root', keys: await keyPair() };
  leaf = await leafOf(good);
});

describe('a certificate', () => {
  it('is trusted when a trusted root issued it', async () => {
    expect(await found(leaf, [await rootOf(good)])).toBe('');
    const openssl = { party: undefined, x509Der: Buffer.from(ROOT, 'base64') };
    expect(await found(Buffer.from(LEAF, 'base64'), [openssl])).toBe('');
    expect(await found(Buffer.from(LEAF, 'base64'), [await rootOf(good)])).toMatch(STRANGER);
    expect(await found(leaf, [openssl])).toMatch(STRANGER);
  });

  it('is trusted if no root applies to its party', async () => {
    expect(await found(leaf, [])).toBe('');
    expect(await found(leaf, [await rootOf(namesake, { party: GLOBEX })])).toBe('');
  });

  it('is not trusted when its root only has the right name, or only the right key', async () => {
    expect(await found(leaf, [await rootOf(namesake)])).toMatch(STRANGER);
    const renamed = { ...good, name: 'CN=other' };
    expect(await found(leaf, [await rootOf(renamed)])).toMatch(/which did not issue it/);
  });

  it('is not trusted when the root it names did not sign it', async () => {
    const forged = await leafOf(namesake, { key: good.keys.publicKey });
    expect(await found(forged, [await rootOf(good)])).toMatch(/which did not issue it/);
    const altered = Buffer.from(leaf);
    altered.write('Leaf', altered.indexOf('leaf'));
    expect(await found(altered, [await rootOf(good)])).toMatch(/which did not issue it/);
  });

  it.each<[string, Parameters<typeof leafOf>[1], RegExp]>([
    ['has no authority key identifier', { key: null }, /does not name its issuer/],
    ['has no subject key identifier', { namesOwnKey: false }, /does not name its own key/],
    ['is a CA certificate', { ca: true }, /is one of an authority, not of a signer/],
    ['may not be used for signing', { usage: keyEncipherment }, /is not for signing/],
    ['has an unknown critical extension', { critical: '1.2.3.4' }, /the critical extension 1\.2\.3\.4/],
  ])('is not trusted if it %s', async (_title, changes, message) => {
    expect(await found(await leafOf(good, changes), [await rootOf(good)])).toMatch(message);
  });

  it('is trusted even before and after its own validity period', async () => {
    const root = await rootOf(good, { notBefore: '2020-01-01', notAfter: '2040-01-01' });
    for (const now of ['2029-12-31T00:00:00.000000Z', '2031-01-02T00:00:00.000000Z']) {
      expect(await found(leaf, [root], { now })).toBe('');
    }
  });

  it('is not trusted if it or the root cannot be parsed, but is trusted if no root applies', async () => {
    expect(await found(Uint8Array.of(0x30, 0), [await rootOf(good)])).toMatch(/not exactly one X.509/);
    expect(await found(leaf, [{ party: undefined, x509Der: Uint8Array.of(0x30, 0) }])).toMatch(
      /not exactly one/,
    );
    expect(await found(Uint8Array.of(0x30, 0), [])).toBe('');
  });
});

describe('a root', () => {
  it.each([
    ['has expired', { notAfter: '2030-05-31T23:59:59Z' }, /root that expired/],
    ['is not valid yet', { notBefore: '2030-06-01T00:00:01Z' }, /root that is valid only from/],
    ['is not a certificate authority', { ca: false }, /do not make it an authority/],
    ['may not sign certificates', { usage: digitalSignature }, /its key usage is not keyCertSign/],
  ])('is not trusted if it %s', async (_title, changes, message) => {
    expect(await found(leaf, [await rootOf(good, changes)])).toMatch(message);
  });

  it('may sign certificates if it has no key usage extension', async () => {
    expect(await found(leaf, [await rootOf(good, { usage: null })])).toBe('');
  });

  it('that expired does not affect a renewed root with the same key', async () => {
    const expired = await rootOf(good, { notAfter: '2030-05-01' });
    const renewed = await rootOf(good);
    expect(await found(leaf, [expired, renewed])).toBe('');
    expect(await found(leaf, [renewed, expired])).toBe('');
    expect(await found(leaf, [expired, await rootOf(namesake)])).toMatch(/root that expired/);
  });

  it('of one party applies to that party only, and replaces the general roots for it', async () => {
    const own = await rootOf(good, { party: ACME });
    const common = await rootOf(namesake);
    const fromCommon = await leafOf(namesake);
    expect(await found(leaf, [own, common])).toBe('');
    expect(await found(fromCommon, [own, common])).toMatch(STRANGER);
    expect(await found(leaf, [own, common], { party: GLOBEX })).toMatch(/does not vouch for/);
    expect(await found(fromCommon, [own, common], { party: GLOBEX })).toBe('');
    // A party's own root replaces the general roots even after the party's root has expired.
    const expired = await rootOf(good, { party: ACME, notAfter: '2030-05-01' });
    expect(await found(fromCommon, [expired, common])).toMatch(STRANGER);
  });
});
