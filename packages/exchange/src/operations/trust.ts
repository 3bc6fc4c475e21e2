/** Checks whether certificates are trusted. */
import {
  ConsentError,
  cachedCertificate,
  type Root,
  requireTrusted,
  type X509,
} from '@measurement-exchange/consent';
import type { Timestamp } from '@measurement-exchange/contract';
import type { CertificateRecord } from '../database/certificates.ts';
import type { TrustedRootRecord } from '../database/trustedRoots.ts';

/**
 * Parses a stored certificate. Returns undefined if an earlier version of the exchange accepted the certificate, but
 * this version cannot parse it.
 */
export function storedCertificate(x509Der: Uint8Array): X509 | undefined {
  try {
    return cachedCertificate(x509Der);
  } catch (error) {
    if (error instanceof ConsentError) return undefined;
    throw error;
  }
}

type StoredCertificate = Pick<CertificateRecord, 'party' | 'x509Der'>;
export type StoredRoot = Pick<TrustedRootRecord, 'party' | 'x509Der'>;

/** Returns a sentence that explains why a certificate is not trusted, or undefined if the certificate is trusted. */
type TrustCheck = (certificate: StoredCertificate) => Promise<string | undefined>;

/**
 * Returns a check that parses the roots once for all certificates of a request. If no root applies to a party, the
 * party's certificates are trusted.
 */
export function trustCheck(stored: readonly StoredRoot[], now: Timestamp): TrustCheck {
  let roots: Root[] | undefined;
  return async ({ party, x509Der }) => {
    if (!stored.some((root) => root.party === party || root.party === undefined)) return undefined;
    try {
      roots ??= stored.map((root) => ({ party: root.party, x509: cachedCertificate(root.x509Der) }));
      await requireTrusted(cachedCertificate(x509Der), party, roots, new Date(now));
      return undefined;
    } catch (error) {
      if (error instanceof ConsentError) return error.message;
      throw error;
    }
  };
}
