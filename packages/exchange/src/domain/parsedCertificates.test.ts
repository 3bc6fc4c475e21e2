import { createRoot, issueLeaf } from '@measurement-exchange/sdk/identity';
import { expect, it } from 'vitest';
import { isSignedByIssuer, parseCertificate, publicKeyOf } from './parsedCertificates.ts';

const rootDer = (pem: string) => Buffer.from(pem.replace(/-----[^-]+-----|\s/g, ''), 'base64');

it('tells two roots of one name apart, however often they are asked about', async () => {
  const [first, second] = [await createRoot('Root', Date.now()), await createRoot('Root', Date.now())];
  const { der } = await issueLeaf(first, 'leaf', Date.now());
  for (let time = 0; time < 3; time++) {
    const leaf = parseCertificate(Uint8Array.from(der));
    expect(isSignedByIssuer(leaf, parseCertificate(rootDer(first.certificatePem)))).toBe(true);
    expect(isSignedByIssuer(leaf, parseCertificate(rootDer(second.certificatePem)))).toBe(false);
  }
});

it('parses the same bytes once, and other bytes for themselves', async () => {
  const root = await createRoot('Root', Date.now());
  const leaves = [await issueLeaf(root, 'a', Date.now()), await issueLeaf(root, 'b', Date.now())];
  const [a, again, b] = [leaves[0]!, leaves[0]!, leaves[1]!].map(({ der }) =>
    parseCertificate(Uint8Array.from(der)),
  );
  expect(again).toBe(a);
  expect(b).not.toBe(a);
  expect(publicKeyOf(a!).equals(publicKeyOf(b!))).toBe(false);
  expect(publicKeyOf(a!)).toBe(publicKeyOf(again!));
});

it('refuses what is no certificate every time', () => {
  for (let time = 0; time < 2; time++) expect(() => parseCertificate(Uint8Array.of(0x30, 0))).toThrow();
});
