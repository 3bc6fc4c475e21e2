/** Certificates as resources of the API, and their names. */
import { type Certificate, ExchangeError } from '@measurement-exchange/contract';
import type { CertificateRecord } from '../../database/certificates.ts';
import { parsePrincipal } from '../../domain/access.ts';

export function certificateName(party: string, id: string): string {
  return `${party}/certificates/${id}`;
}

/** `dataProviders/x/certificates` or `dataProviders/x/certificates/y` to `dataProviders/x`. */
export function partyOf(path: string): string {
  return path.split('/').slice(0, 2).join('/');
}

export function viewCertificate(c: CertificateRecord): Certificate {
  return {
    name: certificateName(c.party, c.id),
    x509Der: c.x509Der,
    subjectKeyIdentifier: c.subjectKeyIdentifier,
    revocationState: c.revocationState,
    notBefore: c.notBefore,
    notAfter: c.notAfter,
  };
}

export function requireFound(certificate: CertificateRecord | undefined, name: string): CertificateRecord {
  if (certificate !== undefined) return certificate;
  const { kind } = parsePrincipal(partyOf(name))!;
  throw new ExchangeError('CERTIFICATE_NOT_FOUND', `${name} does not exist.`, {
    metadata: { [`${kind}Certificate`]: name },
  });
}
