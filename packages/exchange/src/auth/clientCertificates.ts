/**
 * Verifies client certificates. The TLS handshake proves only that the caller has the certificate's private key.
 * Anybody can write any authority key identifier into a certificate, so the identifier only selects the roots to try.
 */
import { hash } from 'node:crypto';
import {
  ConsentError,
  cachedCertificate,
  isIssuedBy,
  parseCertificate,
  requireForClient,
  requireTrusted,
  type X509,
} from '@measurement-exchange/consent';
import { parsePartyName } from '@measurement-exchange/contract';
import { AcceptedCredentials, RECHECK_MS, unacceptable, type Verified, type Verifier } from './verified.ts';

export type ClientCertificateVerifier = ReturnType<typeof createClientCertificateVerifier>;

export interface StoredRoot {
  /** Undefined if the root applies to all parties that have no root of their own. */
  party: string | undefined;
  x509Der: Uint8Array;
}

/** Reads the database rows that decide which party a certificate belongs to and whether the certificate is accepted. */
export interface ClientCertificateLookup {
  rootsNamed(subjectKeyIdentifier: Uint8Array): Promise<StoredRoot[]>;
  /**
   * Returns the parties of all roots with the key `rootKey` (a SubjectPublicKeyInfo in DER), and the parties that
   * registered the certificate. `trustedFor` contains undefined if one of these roots has no party.
   */
  claims(rootKey: Uint8Array, subjectKeyIdentifier: Uint8Array, x509Der: Uint8Array): Promise<Claims>;
  /**
   * Returns the roots that apply to the party, and whether any of the party's certificates with this key is revoked or
   * on hold.
   */
  standing(party: string, key: Uint8Array): Promise<{ roots: StoredRoot[]; isKeyRevoked: boolean }>;
}

export interface Claims {
  trustedFor: (string | undefined)[];
  registeredFor: string[];
}

/** The issuer that `verify` returns for a client certificate. The subject is the certificate's SHA-256 fingerprint. */
const ISSUER = 'client-certificate';

export function createClientCertificateVerifier(options: {
  lookup: ClientCertificateLookup;
  /** Returns the current time in epoch milliseconds. */
  clock?: () => number;
}): Verifier<Uint8Array> & { invalidate(): void } {
  const { lookup, clock = Date.now } = options;
  let accepted = new AcceptedCredentials(clock);
  return {
    recall: (der) => accepted.recall(AcceptedCredentials.keyOf(der)),

    async verify(der, permit) {
      const cache = accepted;
      const key = AcceptedCredentials.keyOf(der);
      const known = cache.recall(key);
      if (known !== undefined) return known;
      const now = clock();
      try {
        const certificate = parseCertificate(der);
        requireForClient(certificate, new Date(now));
        if (!cache.has(key)) permit?.(undefined);
        const party = await partyOf(certificate, lookup);
        await requireGoodStanding(certificate, party, lookup, new Date(now));
        // Write to the cache that was in use before the lookups. If `invalidate` has replaced the cache since, nobody
        // reads this outdated entry.
        return cache.accept(key, verifiedOf(certificate, party), now + RECHECK_MS);
      } catch (error) {
        cache.reject(key);
        throw error instanceof ConsentError ? unacceptable(error.message) : error;
      }
    },

    /** Clears this replica's cache. Call this after a certificate was revoked, or the trusted roots changed. */
    invalidate() {
      accepted = new AcceptedCredentials(clock);
    },
  };
}

/**
 * Returns the name of the party that the certificate belongs to. A certificate from a root that is trusted for only one
 * party belongs to that party. A certificate from any other root must name exactly one party, or name no party and be
 * registered by exactly one party.
 */
async function partyOf(certificate: X509, lookup: ClientCertificateLookup): Promise<string> {
  const { der, authorityKeyIdentifier, subjectKeyIdentifier, parties } = certificate;
  if (authorityKeyIdentifier === undefined) throw unacceptable('the certificate does not name its issuer');
  const root = await issuerOf(certificate, await lookup.rootsNamed(authorityKeyIdentifier));
  if (root === undefined) throw unacceptable('no trusted root issued the certificate');

  const { trustedFor, registeredFor } = await lookup.claims(root.publicKey.spki, subjectKeyIdentifier!, der);
  const [only] = trustedFor;
  if (trustedFor.length === 1 && only !== undefined) return only;
  const claimants = parties.length > 0 ? parties : registeredFor;
  const [party] = claimants;
  if (claimants.length !== 1 || parsePartyName(party!) === undefined) {
    throw unacceptable(
      `the root issues for several parties, and the certificate ${parties.length > 0 ? 'names' : 'is registered by'} ` +
        `${claimants.length} of them`,
    );
  }
  return party!;
}

async function issuerOf(certificate: X509, roots: StoredRoot[]): Promise<X509 | undefined> {
  for (const { x509Der } of roots) {
    const root = cachedCertificate(x509Der);
    if (await isIssuedBy(certificate, root)) return root;
  }
  return undefined;
}

async function requireGoodStanding(
  certificate: X509,
  party: string,
  lookup: ClientCertificateLookup,
  now: Date,
): Promise<void> {
  const { roots, isKeyRevoked } = await lookup.standing(party, certificate.publicKey.spki);
  const parsed = roots.map((root) => ({ party: root.party, x509: cachedCertificate(root.x509Der) }));
  await requireTrusted(certificate, party, parsed, now);
  if (isKeyRevoked) throw unacceptable('a certificate of this key is revoked or on hold');
}

function verifiedOf({ der, notAfter }: X509, party: string): Verified {
  return {
    issuer: ISSUER,
    subject: `sha256:${hash('sha256', der, 'hex')}`,
    expiresAt: notAfter.getTime() / 1000,
    claimedPrincipal: party,
  };
}
