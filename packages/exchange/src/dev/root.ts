/** The demo root, which issues the certificates of the demo parties and of servers with TLS in development mode. */
import { join } from 'node:path';
import { parseCertificatePem } from '@measurement-exchange/consent';
import { equalBytes } from '@measurement-exchange/contract';
import { createRoot, issueLeaf, type Root } from '@measurement-exchange/sdk/identity';
import type { ClientCertificateLookup } from '../auth/clientCertificates.ts';
import { readOrMakePrivateJson } from '../auth/privateFile.ts';

export function devRoot(dataDir: string, now: number): Promise<Root> {
  return readOrMakePrivateJson(join(dataDir, 'dev-root.json'), () =>
    createRoot('Measurement Exchange demo root', now),
  );
}

/** Returns a new certificate for TLS on loopback, in PEM, and its key. */
export async function devServerTls(dataDir: string, now: number): Promise<{ cert: string; key: string }> {
  const hosts = ['localhost', '127.0.0.1', '::1'];
  const leaf = await issueLeaf(await devRoot(dataDir, now), 'localhost', now, { hosts, days: 365 });
  return { cert: leaf.certificatePem, key: leaf.privateKeyPem };
}

/**
 * Returns a lookup that also trusts the demo root to issue any party's client certificates. The demo root is not stored
 * in the table `trusted_roots`. If the table contained the root, the exchange would check signing certificates against
 * this root, and would report the certificates of other roots as findings.
 */
export async function withDevRoot(
  lookup: ClientCertificateLookup,
  dataDir: string,
  now: number,
): Promise<ClientCertificateLookup> {
  const { der, subjectKeyIdentifier, publicKey } = parseCertificatePem(
    (await devRoot(dataDir, now)).certificatePem,
  );
  const root = { party: undefined, x509Der: der };
  return {
    async rootsNamed(named) {
      const roots = await lookup.rootsNamed(named);
      return equalBytes(named, subjectKeyIdentifier!) ? [...roots, root] : roots;
    },
    async claims(rootKey, named, x509Der) {
      const claims = await lookup.claims(rootKey, named, x509Der);
      if (!equalBytes(rootKey, publicKey.spki)) return claims;
      return { ...claims, trustedFor: [...claims.trustedFor, undefined] };
    },
    async standing(party, key) {
      const standing = await lookup.standing(party, key);
      return { ...standing, roots: [...standing.roots, root] };
    },
  };
}
