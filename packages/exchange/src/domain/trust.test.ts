import 'reflect-metadata'; // @peculiar/x509 does not load without it
import { timestampOf } from '@measurement-exchange/contract';
import { LEAF, ROOT } from '@measurement-exchange/testkit/opensslVectors';
import * as x509 from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Root, trustCheck } from './trust.ts';

const P256 = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' };
const { keyCertSign, cRLSign, digitalSignature } = x509.KeyUsageFlags;
const NOW = '2030-06-01T00:00:00.000000Z';
const ACME = 'measurementConsumers/acme';
const GLOBEX = 'measurementConsumers/globex';

const keyPair = (algorithm: typeof P256 = P256) =>
  crypto.subtle.generateKey(algorithm, true, ['sign', 'verify']);

interface Authority {
  name: string;
  keys: CryptoKeyPair;
}

/** The certificate of a root that is good but for the changes. */
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
    /** null: no such extension. */
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
  return {
    party,
    x509Der: new Uint8Array(made.rawData),
    notBefore: timestampOf(Date.parse(notBefore)),
    notAfter: timestampOf(Date.parse(notAfter)),
  };
}

/** A certificate from the authority; it may name another key than the one that signed, or none. */
async function leafOf(
  authority: Authority,
  { key = authority.keys.publicKey as CryptoKey | null } = {},
): Promise<Uint8Array> {
  const made = await x509.X509CertificateGenerator.create({
    subject: 'CN=leaf',
    issuer: authority.name,
    publicKey: (await keyPair()).publicKey,
    signingKey: authority.keys.privateKey,
    signingAlgorithm: P256,
    notBefore: new Date('2030-01-01'),
    notAfter: new Date('2031-01-01'),
    extensions: key === null ? [] : [await x509.AuthorityKeyIdentifierExtension.create(key)],
  });
  return new Uint8Array(made.rawData);
}

/** What is found about a certificate of Acme's; empty: nothing. */
function found(x509Der: Uint8Array, roots: Root[], { party = ACME, now = NOW } = {}): string {
  const findings = trustCheck(roots, now)('certificate', { party, x509Der });
  for (const { code, field } of findings)
    expect([code, field]).toEqual(['CERTIFICATE_UNTRUSTED', 'certificate']);
  return findings.map((f) => f.message).join();
}

const STRANGER = 'No root that is trusted for the party issued the certificate.';
let good: Authority;
/** Another one of the same name. */
let namesake: Authority;
let leaf: Uint8Array;

beforeAll(async () => {
  good = { name: 'CN=root', keys: await keyPair() };
  namesake = { name: 'CN=root', keys: await keyPair() };
  leaf = await leafOf(good);
});

describe('a certificate', () => {
  it('is trusted when a trusted root issued it', async () => {
    expect(found(leaf, [await rootOf(good)])).toBe('');
    const openssl = { party: undefined, x509Der: Buffer.from(ROOT, 'base64'), notBefore: NOW, notAfter: NOW };
    expect(found(Buffer.from(LEAF, 'base64'), [openssl])).toBe('');
    expect(found(Buffer.from(LEAF, 'base64'), [await rootOf(good)])).toBe(STRANGER);
    expect(found(leaf, [openssl])).toBe(STRANGER);
  });

  it('is trusted where no root applies', async () => {
    expect(found(leaf, [])).toBe('');
    expect(found(leaf, [await rootOf(namesake, { party: GLOBEX })])).toBe('');
  });

  it('is not trusted when its root only has the right name, or only the right key', async () => {
    expect(found(leaf, [await rootOf(namesake)])).toBe(STRANGER);
    const renamed = { ...good, name: 'CN=other' };
    expect(found(leaf, [await rootOf(renamed)])).toBe(STRANGER);
  });

  it('is not trusted when the root it names did not sign it', async () => {
    const forged = await leafOf(namesake, { key: good.keys.publicKey });
    expect(found(forged, [await rootOf(good)])).toBe(
      'The trusted root it names did not sign the certificate.',
    );
    const altered = Buffer.from(leaf);
    altered.write('Leaf', altered.indexOf('leaf'));
    expect(found(altered, [await rootOf(good)])).toMatch(/did not sign/);
  });

  it('need not name the key of its issuer: the signature tells', async () => {
    expect(found(await leafOf(good, { key: null }), [await rootOf(good)])).toBe('');
    expect(found(await leafOf(namesake, { key: null }), [await rootOf(good)])).toMatch(/did not sign/);
  });
});

describe('a root', () => {
  it.each([
    ['has expired', { notAfter: '2030-05-31T23:59:59Z' }, /has expired/],
    ['is not valid yet', { notBefore: '2030-06-01T00:00:01Z' }, /not valid yet/],
    ['is no certificate authority', { ca: false }, /not a certificate authority/],
    ['may not sign certificates', { usage: digitalSignature }, /No root/],
  ])('that %s vouches for nothing', async (_title, changes, message) => {
    expect(found(leaf, [await rootOf(good, changes)])).toMatch(message);
  });

  it('without key usages may sign certificates', async () => {
    expect(found(leaf, [await rootOf(good, { usage: null })])).toBe('');
  });

  it('that expired does not stand in the way of its successor with the same key', async () => {
    const expired = await rootOf(good, { notAfter: '2030-05-01' });
    const renewed = await rootOf(good);
    expect(found(leaf, [expired, renewed])).toBe('');
    expect(found(leaf, [renewed, expired])).toBe('');
    expect(found(leaf, [expired, await rootOf(namesake)])).toMatch(/has expired/);
  });

  it('of one party vouches for that party only, and alone', async () => {
    const own = await rootOf(good, { party: ACME });
    const common = await rootOf(namesake);
    const fromCommon = await leafOf(namesake);
    expect(found(leaf, [own, common])).toBe('');
    expect(found(fromCommon, [own, common])).toBe(STRANGER);
    expect(found(leaf, [own, common], { party: GLOBEX })).toBe(STRANGER);
    expect(found(fromCommon, [own, common], { party: GLOBEX })).toBe('');
    // Its own root counts although it vouches for nothing any more.
    const expired = await rootOf(good, { party: ACME, notAfter: '2030-05-01' });
    expect(found(fromCommon, [expired, common])).toBe(STRANGER);
  });
});
