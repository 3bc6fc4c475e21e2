import { X509Certificate } from 'node:crypto';
import {
  createTrustStore,
  decrypt,
  encrypt,
  parseCertificate,
  unpackEncryptionPublicKey,
  verifySignature,
} from '@measurement-exchange/consent';
import { beforeAll, expect, it } from 'vitest';
import { createIdentity, type Identity } from './index.ts';

const NOW = Date.UTC(2027, 0, 15);
const DAY_MS = 24 * 3600_000;
const derOf = (pem: string) => new X509Certificate(pem).raw;
let lakeside: Identity;

beforeAll(async () => {
  lakeside = await createIdentity({ commonName: 'Lakeside Radio', now: NOW, days: 365 });
});

it('createIdentity returns an identity that is trusted through its root for the requested days', async () => {
  const trust = createTrustStore([{ party: 'dataProviders/lakeside', pem: lakeside.root.certificatePem }]);
  const verify = (day: number) =>
    trust.verify('dataProviders/lakeside', derOf(lakeside.certificatePem), new Date(NOW + day * DAY_MS));
  expect((await verify(0)).subject).toBe('CN=Lakeside Radio');
  await verify(364);
  await expect(verify(366)).rejects.toMatchObject({ code: 'CERTIFICATE_EXPIRED' });
});

it('createIdentity signs the encryption key, and returns the keyset that decrypts its messages', async () => {
  await verifySignature(lakeside.publicKey, parseCertificate(derOf(lakeside.certificatePem)));
  const keyset = unpackEncryptionPublicKey(lakeside.publicKey.message);
  const sealed = await encrypt(keyset, Buffer.from('for Lakeside'));
  const opened = await decrypt(lakeside.keysets.privateKeyset, sealed);
  expect(Buffer.from(opened).toString()).toBe('for Lakeside');
});

it('createIdentity keeps a given root and given keysets, and issues a new certificate', async () => {
  const { root, keysets } = lakeside;
  const renewed = await createIdentity({ commonName: 'Lakeside Radio', now: NOW, days: 365, root, keysets });
  expect(renewed.root).toEqual(root);
  expect(renewed.keysets).toEqual(keysets);
  expect(renewed.privateKeyPem).not.toBe(lakeside.privateKeyPem);
  const [one, other] = [lakeside, renewed].map(({ certificatePem }) => new X509Certificate(certificatePem));
  expect(other!.checkIssued(new X509Certificate(root.certificatePem))).toBe(true);
  expect(other!.serialNumber).not.toBe(one!.serialNumber);
});

it('createIdentity truncates a long name between two characters to fit a certificate', async () => {
  const { root, certificatePem } = await createIdentity({ commonName: '📻'.repeat(80), now: NOW, days: 1 });
  expect(new X509Certificate(certificatePem).subject).toBe(`CN=${'📻'.repeat(59)}`);
  expect(new X509Certificate(root.certificatePem).subject).toBe(`CN=${'📻'.repeat(59)} root`);
});
