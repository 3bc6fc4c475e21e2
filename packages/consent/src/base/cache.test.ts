import { generateKeys, leaf, NOW, root, YEAR_MS } from '@measurement-exchange/testkit/issuing';
import {
  eciesPrivate,
  eciesPublic,
  hpkePrivate,
  hpkePublic,
  type KeyInit,
  keyset,
} from '@measurement-exchange/testkit/tinkKeysets';
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest';
import { faultOf, flipped } from '../../test/errors.ts';
import { cachedCertificate, parseCertificate } from '../certificates/certificates.ts';
import { decrypt, encrypt } from '../encryption/hybrid.ts';
import { createEncryptionKeysets } from '../keysets/keysets.ts';
import { createSigner, verifySignature } from '../signatures/signatures.ts';
import { createTrustStore, requireTrusted } from '../trust/trust.ts';
import { cache, cacheByObject } from './cache.ts';

const SPEC = new TextEncoder().encode('a requisition spec');
const PARTY = 'dataProviders/streamly';
const derOf = (pem: string) => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');
const named = (key: KeyInit, keyId: number): KeyInit => ({ ...key, keyId });

const node = process.getBuiltinModule('node:crypto');
let importKey: MockInstance<typeof crypto.subtle.importKey>;
let createPublicKey: MockInstance<typeof node.createPublicKey>;
let nodeVerify: MockInstance<typeof node.verify>;
beforeEach(() => {
  importKey = vi.spyOn(crypto.subtle, 'importKey');
  createPublicKey = vi.spyOn(node, 'createPublicKey');
  nodeVerify = vi.spyOn(node, 'verify');
});
afterEach(() => {
  vi.restoreAllMocks();
});
/** Counts the keys of this form and algorithm that `work` imports. */
async function imports(form: string, algorithm: string, work: () => Promise<unknown>): Promise<number> {
  const before = importKey.mock.calls.length;
  await work();
  return importKey.mock.calls
    .slice(before)
    .filter(([format, , params]) => format === form && (params as Algorithm).name === algorithm).length;
}

async function signerWith(keys: CryptoKeyPair) {
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey));
  return createSigner(
    `-----BEGIN PRIVATE KEY-----\n${pkcs8.toString('base64')}\n-----END PRIVATE KEY-----\n`,
  );
}

describe('keysets', () => {
  it('are imported once, even for repeated and concurrent use', async () => {
    const { publicKeyset, privateKeyset } = await createEncryptionKeysets();
    const sealed = await encrypt(publicKeyset, SPEC);
    // Public keysets are cached by content, because each message brings its own copy of the keyset.
    expect(await imports('raw', 'ECDH', () => encrypt(Uint8Array.from(publicKeyset), SPEC))).toBe(0);
    const three = () => Promise.all([1, 2, 3].map(() => decrypt(privateKeyset, sealed)));
    expect(await imports('jwk', 'ECDH', three)).toBe(1);
    expect(await imports('jwk', 'ECDH', three)).toBe(0);
  });

  it.each([
    [
      'ECIES',
      named(eciesPublic(), 7),
      named(eciesPublic(), 8),
      named(eciesPrivate(), 7),
      named(eciesPrivate(), 8),
    ],
    [
      'HPKE',
      named(hpkePublic(), 7),
      named(hpkePublic(), 8),
      named(hpkePrivate(), 7),
      named(hpkePrivate(), 8),
    ],
  ])(
    'are read again after their bytes were changed in place, with %s',
    async (_title, seven, eight, ...pairs) => {
      const recipient = Uint8Array.from(keyset([seven]));
      const sealed = await encrypt(recipient, SPEC);
      recipient.set(keyset([eight]));
      const sealedThen = await encrypt(recipient, SPEC);
      expect([sealed[4], sealedThen[4]]).toEqual([7, 8]);

      const secret = Uint8Array.from(keyset([pairs[0]!]));
      expect(await decrypt(secret, sealed)).toEqual(SPEC);
      secret.set(keyset([pairs[1]!]));
      expect(await decrypt(secret, sealedThen)).toEqual(SPEC);
      expect(await faultOf(() => decrypt(secret, sealed))).toBe('NO_MATCHING_KEY');
      secret.fill(0);
      expect(await faultOf(() => decrypt(secret, sealedThen))).toBe('KEYSET_MALFORMED');
    },
  );

  it.each([
    ['ECIES', eciesPublic(), eciesPrivate()],
    ['HPKE', hpkePublic(), hpkePrivate()],
  ])(
    'are used as they were at the call, even if their bytes change during it, with %s',
    async (_title, own, pair) => {
      const [recipient, secret] = [keyset([own]), keyset([pair])].map((bytes) => Uint8Array.from(bytes));
      const sealing = encrypt(recipient!, SPEC);
      recipient!.fill(0);
      const opening = decrypt(secret!, await sealing);
      secret!.fill(0);
      expect(await opening).toEqual(SPEC);
    },
  );
});

it('a private keyset whose import failed is imported again by the next call', async () => {
  const { publicKeyset, privateKeyset } = await createEncryptionKeysets();
  const sealed = await encrypt(publicKeyset, SPEC);
  importKey.mockRejectedValueOnce(new Error('not now'));
  await expect(decrypt(privateKeyset, sealed)).rejects.toThrow();
  expect(await decrypt(privateKeyset, sealed)).toEqual(SPEC);
});

describe('the key of a certificate', () => {
  it('is imported once, and again after its bytes were changed in place', async () => {
    const issuer = await root('CN=Root');
    const [own, other] = [await generateKeys(), await generateKeys()];
    const certificate = parseCertificate((await leaf(issuer, { keys: own })).der);
    const signed = await (await signerWith(own)).sign(SPEC);
    await verifySignature(signed, certificate);
    expect(createPublicKey).toHaveBeenCalledTimes(1);
    await verifySignature(signed, structuredClone(certificate));
    expect(createPublicKey).toHaveBeenCalledTimes(1);

    certificate.publicKey.spki.set(new Uint8Array(await crypto.subtle.exportKey('spki', other.publicKey)));
    expect(await faultOf(() => verifySignature(signed, certificate))).toBe('SIGNATURE_INVALID');
    await verifySignature(await (await signerWith(other)).sign(SPEC), certificate);
  });

  it('verifies RSA signatures with SHA-256, SHA-384 and SHA-512', async () => {
    const rsa = (hash: string) => ({
      name: 'RSASSA-PKCS1-v1_5',
      modulusLength: 2048,
      publicExponent: Uint8Array.of(1, 0, 1),
      hash,
    });
    const keys = await generateKeys(rsa('SHA-256'));
    const certificate = parseCertificate((await leaf(await root('CN=Root'), { keys })).der);
    const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
    for (const bits of [256, 384, 512]) {
      const key = await crypto.subtle.importKey('pkcs8', pkcs8, rsa(`SHA-${bits}`), false, ['sign']);
      const signature = new Uint8Array(await crypto.subtle.sign('RSASSA-PKCS1-v1_5', key, SPEC));
      const signed = { message: SPEC, signature, signatureAlgorithm: `RSA_PKCS1_SHA${bits}` };
      await expect(verifySignature(signed, certificate)).resolves.toBeUndefined();
    }
  });
});

describe('a cached certificate', () => {
  it('is parsed once for equal bytes in any array, and separately for other bytes', async () => {
    const issuer = await root('CN=Root');
    const [a, b] = [await leaf(issuer), await leaf(issuer)];
    const value = cachedCertificate(a.der);
    const elsewhere = Buffer.concat([Buffer.of(9), a.der, Buffer.of(9)]).subarray(1, -1);
    expect(cachedCertificate(Uint8Array.from(elsewhere))).toBe(value);
    expect(cachedCertificate(elsewhere)).toBe(value);
    expect(cachedCertificate(b.der)).not.toBe(value);
    expect(cachedCertificate(a.der)).toEqual(parseCertificate(a.der));
  });

  it('is rejected every time if it is malformed', async () => {
    for (const _ of [1, 2]) {
      expect(await faultOf(() => cachedCertificate(Uint8Array.of(0x30, 0)))).toBe('CERTIFICATE_MALFORMED');
    }
  });

  it('is distinguished from one of another root with the same name, even after repeated checks', async () => {
    const [first, second] = [await root('CN=Root'), await root('CN=Root')];
    const certificate = cachedCertificate((await leaf(first, { aki: second.ski! })).der);
    const by = (pem: string) => [{ party: undefined, x509: cachedCertificate(derOf(pem)) }];
    for (const _ of [1, 2, 3]) {
      expect(await faultOf(() => requireTrusted(certificate, PARTY, by(second.pem), NOW))).toBe(
        'CERTIFICATE_NOT_ISSUED_BY_ROOT',
      );
      expect(await faultOf(() => requireTrusted(certificate, PARTY, by(first.pem), NOW))).toBe(
        'CERTIFICATE_UNTRUSTED',
      );
    }
  });
});

describe('a certificate that was trusted', () => {
  it('is not verified again', async () => {
    const issuer = await root('CN=Root');
    const { der } = await leaf(issuer);
    const store = createTrustStore([{ party: PARTY, pem: issuer.pem }]);
    const first = await store.verify(PARTY, der, NOW);
    expect(nodeVerify).toHaveBeenCalledTimes(2);
    expect(await store.verify(PARTY, Uint8Array.from(der), NOW)).toEqual(first);
    expect(nodeVerify).toHaveBeenCalledTimes(2);
  });

  it('is still rejected after it expires, for another party, and with a flipped bit', async () => {
    const issuer = await root('CN=Root');
    const { der } = await leaf(issuer);
    const store = createTrustStore([{ party: PARTY, pem: issuer.pem }]);
    const refused = (party: string, bytes: Uint8Array, now: Date) =>
      faultOf(() => store.verify(party, bytes, now));
    await store.verify(PARTY, der, NOW);
    expect(await refused(PARTY, der, new Date(NOW.getTime() + 11 * YEAR_MS))).toBe('CERTIFICATE_EXPIRED');
    expect(await refused('dataProviders/chirper', der, NOW)).toBe('CERTIFICATE_OF_ANOTHER_PARTY');
    expect(await refused(PARTY, flipped(der, 8 * der.length - 1), NOW)).toBe(
      'CERTIFICATE_NOT_ISSUED_BY_ROOT',
    );
    await store.verify(PARTY, der, NOW);
  });

  it('is returned unchanged after the caller modified its bytes and its description', async () => {
    const issuer = await root('CN=Root');
    const { der } = await leaf(issuer);
    const store = createTrustStore([{ party: PARTY, pem: issuer.pem }]);
    const given = Uint8Array.from(der);
    const first = await store.verify(PARTY, given, NOW);
    const described = structuredClone(first);
    given.fill(0);
    first.publicKey.spki.fill(0);
    first.publicKey.keyType = 'RSA';
    first.notAfter.setTime(0);
    expect(await store.verify(PARTY, der, NOW)).toEqual(described);
  });
});

describe('a cache', () => {
  it('holds the 2,000 keys that were used last, and evicts the others', () => {
    const values = cache<{ made: number }>();
    const use = (key: number, made: number) => values(String(key), () => ({ made })).made;
    for (let key = 1; key <= 2000; key++) use(key, 1);
    expect(use(1, 2)).toBe(1);
    use(2001, 1);
    expect(use(1, 3)).toBe(1);
    expect(use(3, 3)).toBe(1);
    expect(use(2, 3)).toBe(3);
  });

  it('stores nothing under a key of 100,000 characters', () => {
    const values = cache<object>();
    const long = 'a'.repeat(100_000);
    expect(values(long, () => ({}))).not.toBe(values(long, () => ({})));
  });

  it('stores no failure, so the next caller retries', async () => {
    const array = new Uint8Array(3);
    let tries = 0;
    const attempt = async () => {
      tries++;
      if (tries % 2 === 1) throw new Error('not now');
      return tries;
    };
    const byKey = cache<Promise<number>>();
    for (const use of [() => byKey('a', attempt), cacheByObject(attempt)]) {
      tries = 0;
      await expect(use(array)).rejects.toThrow('not now');
      expect(await use(array)).toBe(2);
      expect(await use(array)).toBe(2);
    }
  });
});
