/** Reads the rows that decide which party a client certificate belongs to. */
import { type Queryable, sql } from './db.ts';
import { read } from './run.ts';
import { rootsForParties, rootsNamed } from './trustedRoots.ts';

/**
 * Finds the parties for which a root with the key `$1` is trusted, and the parties that have registered the certificate
 * `$3`, whose subject key identifier is `$2`. The key is a SubjectPublicKeyInfo in DER. A root has this key if the
 * root's DER contains the key's bytes.
 */
const CLAIMS = sql<{ trusted_for: (string | null)[]; registered_for: string[] }>(
  'client_certificate_claims',
  `SELECT ARRAY(SELECT DISTINCT party FROM trusted_roots WHERE position($1::bytea IN x509_der) > 0) AS trusted_for,
          ARRAY(SELECT party FROM certificates
                 WHERE subject_key_identifier = $2 AND sha256(x509_der) = sha256($3::bytea)) AS registered_for`,
);

const isKeyRevoked = read.exists(
  (party: string, key: Uint8Array) => [party, key],
  'client_certificate_is_revoked',
  `SELECT 1 FROM certificates
    WHERE party = $1 AND revocation_state IS NOT NULL AND position($2::bytea IN x509_der) > 0 LIMIT 1`,
);

export function clientCertificateLookup(db: Queryable) {
  return {
    rootsNamed: (subjectKeyIdentifier: Uint8Array) => rootsNamed(db, subjectKeyIdentifier),

    async claims(rootKey: Uint8Array, subjectKeyIdentifier: Uint8Array, x509Der: Uint8Array) {
      const [row] = await db.query(CLAIMS, [rootKey, subjectKeyIdentifier, x509Der]);
      const { trusted_for, registered_for } = row!;
      return { trustedFor: trusted_for.map((party) => party ?? undefined), registeredFor: registered_for };
    },

    async standing(party: string, key: Uint8Array) {
      const [roots, isRevoked] = await Promise.all([
        rootsForParties(db, [party]),
        isKeyRevoked(db, party, key),
      ]);
      return { roots, isKeyRevoked: isRevoked };
    },
  };
}
