/** Checks whether certificates are trusted. The domain decides what an untrusted one means. */
import { ConsentError, cachedCertificate, type Root, requireTrusted } from '@measurement-exchange/consent';
import type { Timestamp } from '@measurement-exchange/contract';

interface StoredCertificate {
  party: string;
  x509Der: Uint8Array;
}
interface StoredRoot {
  /** The party whose certificates it may issue; undefined: those of any party that has no root of its own. */
  party: string | undefined;
  x509Der: Uint8Array;
}

/** Why a certificate is not trusted, as a sentence; undefined where it is. */
export type TrustCheck = (certificate: StoredCertificate) => Promise<string | undefined>;

/** Reads the roots once, for all certificates of a request. Where no root applies, everything is trusted. */
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
