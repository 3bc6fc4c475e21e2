import { type Certificate, ExchangeError } from '@measurement-exchange/contract';
import type { CertificateRecord } from '../../database/certificates.ts';
import { parsePrincipal, partyOf } from '../../domain/access.ts';
import { certificateName } from '../../domain/certificate.ts';

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
