/** Creates self-signed certificates like those that parties register, for any key and validity. */
import 'reflect-metadata'; // @peculiar/x509 does not load without this import
import * as x509 from '@peculiar/x509';
import type { DevParty, TestExchange } from './exchange.ts';
import { generateKeys, P256 } from './issuing.ts';
import { ok, post } from './steps.ts';

export const DAY_MS = 24 * 3600_000;

export interface NewCertificate {
  x509Der: string;
  x509Pem: string;
}

/**
 * Creates a certificate with a random serial number, so two certificates of one key differ. By default, its only
 * extension is the subject key identifier. If `extensions` is given, the certificate has those extensions instead.
 */
export async function newCertificate(
  keys?: CryptoKeyPair,
  options: { notAfter?: Date; extensions?: x509.Extension[] } = {},
): Promise<NewCertificate> {
  const used = keys ?? (await generateKeys());
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    keys: used,
    signingAlgorithm: P256,
    notBefore: new Date(Date.now() - 10 * 365 * DAY_MS),
    notAfter: options.notAfter ?? new Date(Date.now() + 365 * DAY_MS),
    extensions: options.extensions ?? [await x509.SubjectKeyIdentifierExtension.create(used.publicKey)],
  });
  return {
    x509Der: Buffer.from(certificate.rawData).toString('base64'),
    x509Pem: certificate.toString('pem'),
  };
}

/** Registers `count` certificates of one new key, and returns their names. */
export async function register(exchange: TestExchange, party: DevParty, count: number): Promise<string[]> {
  const keys = await generateKeys();
  const names: string[] = [];
  for (let i = 0; i < count; i++) {
    const { x509Der } = await newCertificate(keys);
    const { name } = await ok(post(exchange, party, `${party.name}/certificates`, { x509Der }));
    names.push(name);
  }
  return names;
}
