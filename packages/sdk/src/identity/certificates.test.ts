import 'reflect-metadata';
import { createPrivateKey, sign, verify, X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import { beforeAll, expect, it } from 'vitest';
import { createRoot, issueLeaf, type Leaf, type Root } from './certificates.ts';

const NOW = Date.UTC(2027, 0, 15);
let root: Root;
let leaf: Leaf;

beforeAll(async () => {
  root = await createRoot('Demo root', NOW);
  leaf = await issueLeaf(root, 'Streamly TV', NOW);
});

it('chains a leaf to the root by name, key identifier and signature', () => {
  const rootCertificate = new X509Certificate(root.certificatePem);
  const certificate = new X509Certificate(leaf.der);
  expect(certificate.checkIssued(rootCertificate)).toBe(true);
  expect(certificate.verify(rootCertificate.publicKey)).toBe(true);
  expect(rootCertificate.checkIssued(rootCertificate)).toBe(true);
  expect([rootCertificate.ca, certificate.ca]).toEqual([true, false]);
  expect(certificate.subject).toBe('CN=Streamly TV');
});

it('issues a leaf that may only sign, and a root that may issue certificates', () => {
  const extensions = (certificate: x509.X509Certificate) => ({
    constraints: certificate.getExtension(x509.BasicConstraintsExtension),
    usages: certificate.getExtension(x509.KeyUsagesExtension)!.usages,
    ski: certificate.getExtension(x509.SubjectKeyIdentifierExtension)!.keyId,
    aki: certificate.getExtension(x509.AuthorityKeyIdentifierExtension)!.keyId,
  });
  const ofRoot = extensions(new x509.X509Certificate(root.certificatePem));
  const ofLeaf = extensions(new x509.X509Certificate(Uint8Array.from(leaf.der)));
  expect(ofRoot.constraints).toMatchObject({ ca: true, critical: true });
  expect(ofRoot.usages).toBe(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign);
  expect(ofRoot.aki).toBe(ofRoot.ski);
  expect(ofLeaf.constraints).toMatchObject({ ca: false });
  expect(ofLeaf.usages).toBe(x509.KeyUsageFlags.digitalSignature);
  expect(ofLeaf.aki).toBe(ofRoot.ski);
  expect(ofLeaf.ski).not.toBe(ofRoot.ski);
});

it('returns the private key of the certificate, on P-256', () => {
  expect(leaf.privateKeyPem).toMatch(/^-----BEGIN PRIVATE KEY-----\n/);
  expect(createPrivateKey(leaf.privateKeyPem).asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  const signature = sign('sha256', Buffer.from('spec'), leaf.privateKeyPem);
  expect(verify('sha256', Buffer.from('spec'), new X509Certificate(leaf.der).publicKey, signature)).toBe(
    true,
  );
});

it('issues a leaf for 10 years and a root for 20 years', () => {
  const years = (certificate: X509Certificate) =>
    (Date.parse(certificate.validTo) - NOW) / (365 * 24 * 3600_000);
  expect(years(new X509Certificate(leaf.der))).toBeCloseTo(10, 1);
  expect(years(new X509Certificate(root.certificatePem))).toBeCloseTo(20, 1);
});

it('issues each certificate with a unique serial number', async () => {
  const others = await Promise.all(Array.from({ length: 8 }, () => issueLeaf(root, 'Streamly TV', NOW)));
  expect(new Set(others.map(({ der }) => new X509Certificate(der).serialNumber)).size).toBe(8);
});
