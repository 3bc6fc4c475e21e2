import 'reflect-metadata'; // @peculiar/x509 does not load without this import
import {
  generateKeys,
  type Issued,
  leaf,
  NOW,
  P256,
  root,
  YEAR_MS,
} from '@measurement-exchange/testkit/issuing';
import { isStress } from '@measurement-exchange/testkit/rounds';
import * as x509 from '@peculiar/x509';
import { beforeAll, describe, expect, it } from 'vitest';
import { errorOf, faultOf, flipped } from '../../test/errors.ts';
import { createTrustStore, type TrustedRoot } from './trust.ts';

const STREAMLY = 'dataProviders/streamly';
const CHIRPER = 'dataProviders/chirper';
const DAILYNEWS = 'dataProviders/dailynews';
const { digitalSignature, keyEncipherment, keyCertSign, nonRepudiation } = x509.KeyUsageFlags;
const later = (years: number) => new Date(NOW.getTime() + years * YEAR_MS);

let streamly: Issued;
let chirper: Issued;
let general: Issued;

beforeAll(async () => {
  streamly = await root('CN=Streamly root');
  chirper = await root('CN=Chirper root');
  general = await root('CN=Exchange root');
});

const roots = (): TrustedRoot[] => [
  { party: STREAMLY, pem: streamly.pem },
  { party: CHIRPER, pem: chirper.pem },
  { pem: general.pem },
];
const BY_STREAMLY = { issuer: 'CN=Streamly root' };
const verify = (certificate: Issued, party = STREAMLY, now = NOW) =>
  createTrustStore(roots()).verify(party, certificate.der, now);
const refused = (certificate: Issued, party = STREAMLY, now = NOW) =>
  faultOf(() => verify(certificate, party, now));

describe('a certificate that a root of its party issued', () => {
  it('is trusted, and its subject and issuer are returned', async () => {
    const certificate = await verify(await leaf(streamly));
    expect(certificate).toMatchObject({ subject: 'CN=Streamly TV', issuer: 'CN=Streamly root' });
  });

  it.each([
    ['P-384 and SHA-384', { name: 'ECDSA', namedCurve: 'P-384' }, { name: 'ECDSA', hash: 'SHA-384' }],
    ['P-256 and SHA-512', { name: 'ECDSA', namedCurve: 'P-256' }, { name: 'ECDSA', hash: 'SHA-512' }],
    ['P-521 and SHA-256', { name: 'ECDSA', namedCurve: 'P-521' }, { name: 'ECDSA', hash: 'SHA-256' }],
    [
      'RSA and SHA-256',
      {
        name: 'RSASSA-PKCS1-v1_5',
        modulusLength: 2048,
        publicExponent: Uint8Array.of(1, 0, 1),
        hash: 'SHA-256',
      },
      { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' },
    ],
  ])('is trusted with %s', async (_title, keyAlgorithm, algorithm) => {
    const keys = await generateKeys(keyAlgorithm);
    const own = await root('CN=Own', { keys, algorithm });
    const trust = createTrustStore([{ party: STREAMLY, pem: own.pem }]);
    const { der } = await leaf(own, { algorithm });
    expect(await trust.verify(STREAMLY, der, NOW)).toMatchObject({ issuer: 'CN=Own' });
  });

  it('is trusted with additional key usages, or without key usage and basic constraints', async () => {
    const usages = digitalSignature | nonRepudiation | keyEncipherment;
    expect(await verify(await leaf(streamly, { usages }))).toMatchObject(BY_STREAMLY);
    expect(await verify(await leaf(streamly, { usages: 'absent', ca: 'absent' }))).toMatchObject(BY_STREAMLY);
  });

  it('is trusted with a critical DNS name as its subject alternative name', async () => {
    const name = new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: 'streamly.example' }], true);
    expect(await verify(await leaf(streamly, { extensions: [name] }))).toMatchObject(BY_STREAMLY);
  });

  it('is trusted at the first and last moment of its validity, but not 1 ms outside', async () => {
    const certificate = await leaf(streamly, { from: 0, until: 1 });
    for (const now of [later(0), later(1)]) await verify(certificate, STREAMLY, now);
    expect(await refused(certificate, STREAMLY, new Date(later(0).getTime() - 1))).toBe(
      'CERTIFICATE_NOT_YET_VALID',
    );
    expect(await refused(certificate, STREAMLY, new Date(later(1).getTime() + 1))).toBe(
      'CERTIFICATE_EXPIRED',
    );
  });
});

describe('a trust store', () => {
  it('trusts a general root for a party without a root, but not for a party with one', async () => {
    await verify(await leaf(general, { party: DAILYNEWS }), DAILYNEWS);
    expect(await refused(await leaf(general, { party: STREAMLY }), STREAMLY)).toBe('CERTIFICATE_UNTRUSTED');
  });

  it('trusts a root of several parties only for certificates that name their party', async () => {
    const shared = createTrustStore([
      { party: STREAMLY, pem: `${streamly.pem}\n${general.pem}` },
      { party: CHIRPER, pem: general.pem.replaceAll('\n', '\r\n') },
    ]);
    const byShared = async (party?: string) => (await leaf(general, party ? { party } : {})).der;
    await shared.verify(CHIRPER, await byShared(CHIRPER), NOW);
    expect(await faultOf(async () => shared.verify(CHIRPER, await byShared(), NOW))).toBe(
      'CERTIFICATE_NAMES_NO_PARTY',
    );
    expect(await faultOf(async () => shared.verify(STREAMLY, await byShared(), NOW))).toBe(
      'CERTIFICATE_NAMES_NO_PARTY',
    );
    // A certificate needs no party name if its root belongs to one party only.
    await shared.verify(STREAMLY, (await leaf(streamly)).der, NOW);
  });

  it('trusts a general root only for certificates that name their party', async () => {
    const error = await errorOf(async () => verify(await leaf(general), DAILYNEWS));
    expect(error.code).toBe('CERTIFICATE_NAMES_NO_PARTY');
    expect(error.message).toContain(`URI:mex:${DAILYNEWS}`);
    const mail = new x509.SubjectAlternativeNameExtension([
      { type: 'email', value: `mex:${DAILYNEWS}` },
      { type: 'url', value: `https://${DAILYNEWS}` },
    ]);
    expect(await refused(await leaf(general, { extensions: [mail] }), DAILYNEWS)).toBe(
      'CERTIFICATE_NAMES_NO_PARTY',
    );
  });

  it('rejects a certificate that names another party, whichever root issued it', async () => {
    for (const by of [general, streamly]) {
      const error = await errorOf(async () => verify(await leaf(by, { party: CHIRPER }), STREAMLY));
      expect(error.code).toBe('CERTIFICATE_OF_ANOTHER_PARTY');
      expect(error.message).toContain(`is of "${CHIRPER}", not of ${STREAMLY}`);
    }
    expect(await refused(await leaf(general, { party: `${DAILYNEWS}2` }), DAILYNEWS)).toBe(
      'CERTIFICATE_OF_ANOTHER_PARTY',
    );
    const both = new x509.SubjectAlternativeNameExtension(
      [CHIRPER, DAILYNEWS].map((party) => ({ type: 'url' as const, value: `mex:${party}` })),
    );
    await verify(await leaf(general, { extensions: [both] }), DAILYNEWS);
  });

  it('does not trust the root of a party for another party, whether or not that has a root', async () => {
    const certificate = await leaf(chirper);
    await verify(certificate, CHIRPER);
    const remedies = {
      [STREAMLY]: /: reject what it signed\.$/,
      [DAILYNEWS]: /: no root of dataProviders\/dailynews is here; add its root, /,
    };
    for (const [party, remedy] of Object.entries(remedies)) {
      const error = await errorOf(() => verify(certificate, party));
      expect(error.code).toBe('CERTIFICATE_OF_ANOTHER_PARTY');
      expect(error.message).toContain(CHIRPER);
      expect(error.message).toMatch(remedy);
    }
  });

  it('accepts several roots of a party, in one PEM file or in several', async () => {
    const next = await root('CN=Streamly root 2');
    const stores = [
      createTrustStore([{ party: STREAMLY, pem: `${streamly.pem}\n${next.pem}` }]),
      createTrustStore([
        { party: STREAMLY, pem: streamly.pem },
        { party: STREAMLY, pem: next.pem },
      ]),
    ];
    for (const store of stores) {
      for (const by of [streamly, next]) {
        const { der } = await leaf(by);
        expect(await store.verify(STREAMLY, der, NOW)).toMatchObject({ issuer: by.name });
      }
    }
  });

  it('trusts a valid root if an expired root has the same name and key', async () => {
    const expired = await root('CN=Streamly root', { keys: streamly.keys, from: -9, until: -1 });
    for (const pems of [
      [expired.pem, streamly.pem],
      [streamly.pem, expired.pem],
    ]) {
      const store = createTrustStore(pems.map((pem) => ({ party: STREAMLY, pem })));
      const { der } = await leaf(streamly);
      expect(await store.verify(STREAMLY, der, NOW)).toMatchObject(BY_STREAMLY);
    }
  });

  it('rejects every certificate with CERTIFICATE_UNTRUSTED if it has no roots', async () => {
    const nobody = createTrustStore([]);
    const certificate = await leaf(streamly);
    expect(await faultOf(() => nobody.verify(STREAMLY, certificate.der, NOW))).toBe('CERTIFICATE_UNTRUSTED');
  });
});

describe('a certificate is rejected', () => {
  it('when an untrusted root issued it', async () => {
    const stranger = await root('CN=Streamly root');
    const error = await errorOf(async () => verify(await leaf(stranger)));
    expect(error.code).toBe('CERTIFICATE_UNTRUSTED');
    expect(error.message).toContain(`trusted for ${STREAMLY}: add its root`);
  });

  it('when it has no authority key identifier', async () => {
    expect(await refused(await leaf(streamly, { aki: 'absent' }))).toBe('CERTIFICATE_UNTRUSTED');
  });

  it('when it names the root as its issuer, but another key signed it', async () => {
    const stranger = await root('CN=Streamly root');
    const posing = await leaf(stranger, { aki: streamly.ski! });
    expect(await refused(posing)).toBe('CERTIFICATE_NOT_ISSUED_BY_ROOT');
  });

  it('when its issuer name differs from the name of the root that signed it', async () => {
    const renamed = await leaf(streamly, { issuerName: 'CN=Streamly r00t' });
    expect(await refused(renamed)).toBe('CERTIFICATE_NOT_ISSUED_BY_ROOT');
  });

  it('when a bit of it was flipped', async () => {
    const certificate = await leaf(streamly);
    const faults = new Set<string>();
    const store = createTrustStore(roots());
    for (let bit = 0; bit < 8 * certificate.der.length; bit += isStress ? 17 : 101) {
      faults.add(await faultOf(() => store.verify(STREAMLY, flipped(certificate.der, bit), NOW)));
    }
    const possible = [
      'CERTIFICATE_MALFORMED',
      'CERTIFICATE_NOT_ISSUED_BY_ROOT',
      'CERTIFICATE_UNTRUSTED',
      'CERTIFICATE_CHAIN_TOO_LONG',
      'SIGNATURE_ALGORITHM_UNKNOWN',
    ];
    expect(possible).toEqual(expect.arrayContaining([...faults]));
    expect(faults).toContain('CERTIFICATE_NOT_ISSUED_BY_ROOT');
  });

  it('when it or its root is not yet valid or has expired', async () => {
    const certificate = (from: number, until: number) => leaf(streamly, { from, until });
    expect(await refused(await certificate(1, 2))).toBe('CERTIFICATE_NOT_YET_VALID');
    expect(await refused(await certificate(-2, -1))).toBe('CERTIFICATE_EXPIRED');
    const old = await certificate(-30, 30);
    expect(await refused(old, STREAMLY, later(-2))).toBe('ROOT_NOT_YET_VALID');
    expect(await refused(old, STREAMLY, later(21))).toBe('ROOT_EXPIRED');
    await verify(old, STREAMLY, later(19));
  });

  it('when its key usage does not allow signatures', async () => {
    expect(await refused(await leaf(streamly, { usages: keyEncipherment }))).toBe('CERTIFICATE_KEY_USAGE');
  });

  it('when it has an unknown critical extension', async () => {
    const extension = new x509.Extension('1.2.3.4', true, Uint8Array.of(5, 0));
    const error = await errorOf(async () => verify(await leaf(streamly, { extensions: [extension] })));
    expect(error.code).toBe('CERTIFICATE_EXTENSION_UNKNOWN');
    expect(error.message).toContain('1.2.3.4');
  });

  it('when it is a CA certificate: an intermediate, or the root itself', async () => {
    const intermediate = await leaf(streamly, { ca: true, usages: keyCertSign | digitalSignature });
    expect(await refused(intermediate)).toBe('CERTIFICATE_CHAIN_TOO_LONG');
    expect(await refused(streamly)).toBe('CERTIFICATE_CHAIN_TOO_LONG');
  });

  it('when an intermediate issued it, with an error that mentions the intermediate', async () => {
    const intermediate = await leaf(streamly, { name: 'CN=Intermediate', ca: true, usages: keyCertSign });
    const error = await errorOf(async () => verify(await leaf(intermediate)));
    expect(error.code).toBe('CERTIFICATE_UNTRUSTED');
    expect(error.message).toContain('intermediate');
  });

  it('when its root signed it with an unsupported algorithm', async () => {
    const keys = await generateKeys({
      name: 'RSA-PSS',
      modulusLength: 2048,
      publicExponent: Uint8Array.of(1, 0, 1),
      hash: 'SHA-256',
    });
    const plain = await root('CN=Own');
    const pss = await leaf(
      { ...plain, keys },
      { algorithm: { name: 'RSA-PSS', hash: 'SHA-256', saltLength: 32 } },
    );
    const store = createTrustStore([{ party: STREAMLY, pem: plain.pem }]);
    expect(await faultOf(() => store.verify(STREAMLY, pss.der, NOW))).toBe('SIGNATURE_ALGORITHM_UNKNOWN');
  });

  it('when it is not a DER certificate', async () => {
    const store = createTrustStore(roots());
    const fault = await faultOf(() => store.verify(STREAMLY, Buffer.from(streamly.pem), NOW));
    expect(fault).toBe('CERTIFICATE_MALFORMED');
  });

  it('with an error under 500 characters, without control characters of its name', async () => {
    const subject = [{ CN: [`Mallory\n\u001b[31m${'x'.repeat(5000)}`] }];
    const error = await errorOf(async () => verify(await leaf(await root('CN=Mallory'), { subject })));
    expect(error.message).not.toMatch(/\p{Cc}/u);
    expect(error.message).toContain('Mallory');
    expect(error.message.length).toBeLessThan(500);
  });
});

describe('a root', () => {
  const faultOfRoot = (pem: string) => faultOf(() => createTrustStore([{ pem }]));

  it('is rejected when another authority issued it', async () => {
    const intermediate = await leaf(streamly, { name: 'CN=Intermediate', ca: true, usages: keyCertSign });
    const error = await errorOf(() => createTrustStore([{ pem: intermediate.pem }]));
    expect(error.code).toBe('CERTIFICATE_CHAIN_TOO_LONG');
    expect(error.message).toContain('Give the self-signed root');
    // Use a certificate with the same subject name as the root, but with a different key.
    const namesake = await root('CN=Streamly root', { by: streamly });
    expect(await faultOfRoot(namesake.pem)).toBe('CERTIFICATE_CHAIN_TOO_LONG');
    expect(await faultOfRoot(`${streamly.pem}${intermediate.pem}`)).toBe('CERTIFICATE_CHAIN_TOO_LONG');
  });

  it('is rejected when it is not a CA, or may not issue certificates', async () => {
    for (const options of [{ ca: false }, { ca: 'absent' as const }, { usages: digitalSignature }]) {
      expect(await faultOfRoot((await root('CN=Root', options)).pem)).toBe('ROOT_INVALID');
    }
  });

  it('is rejected when it has no subject and authority key identifiers', async () => {
    expect(await faultOfRoot((await root('CN=Root', { ski: 'absent', aki: 'absent' })).pem)).toBe(
      'ROOT_INVALID',
    );
  });

  it('is rejected when it has an unsupported critical extension', async () => {
    const names = new x509.Extension('2.5.29.30', true, Uint8Array.of(0x30, 0));
    expect(await faultOfRoot((await root('CN=Root', { extensions: [names] })).pem)).toBe('ROOT_INVALID');
  });

  it('is rejected when its key algorithm is not supported', async () => {
    const keys = await generateKeys({ name: 'Ed25519' });
    const own = await root('CN=Root', { keys, algorithm: { name: 'Ed25519' } });
    expect(await faultOfRoot(own.pem)).toBe('KEY_NOT_SUPPORTED');
  });

  it('is rejected when it is not self-signed and a certificate that it issued is verified', async () => {
    const other = await generateKeys();
    const made = await root('CN=Root', { by: { ...streamly, keys: other, name: 'CN=Root' }, aki: 'absent' });
    const store = createTrustStore([{ party: STREAMLY, pem: made.pem }]);
    const certificate = await leaf(made);
    expect(await faultOf(() => store.verify(STREAMLY, certificate.der, NOW))).toBe('ROOT_INVALID');
  });

  it('is rejected when it is not a PEM certificate', async () => {
    for (const pem of ['', 'hello', streamly.pem.replace('MII', '***'), await privatePem()]) {
      expect(await faultOfRoot(pem)).toBe('CERTIFICATE_MALFORMED');
    }
    const broken = x509.PemConverter.encode(streamly.der.subarray(0, -1).slice().buffer, 'CERTIFICATE');
    expect(await faultOfRoot(broken)).toBe('CERTIFICATE_MALFORMED');
  });

  it('is accepted without key usage, and without an authority key identifier', async () => {
    for (const options of [{ usages: 'absent' as const }, { aki: 'absent' }]) {
      const own = await root('CN=Root', options);
      const { der } = await leaf(own);
      const store = createTrustStore([{ party: STREAMLY, pem: own.pem }]);
      expect(await store.verify(STREAMLY, der, NOW)).toMatchObject({ issuer: 'CN=Root' });
    }
  });
});

async function privatePem(): Promise<string> {
  const { privateKey } = await generateKeys(P256);
  return x509.PemConverter.encode(await crypto.subtle.exportKey('pkcs8', privateKey), 'PRIVATE KEY');
}
