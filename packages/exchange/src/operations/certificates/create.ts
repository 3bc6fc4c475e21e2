import { type Certificate, ExchangeError, equalBytes, type RequestOf } from '@measurement-exchange/contract';
import { type CertificateRecord, findObstacle, insertCertificate } from '../../database/certificates.ts';
import { partyExists } from '../../database/parties.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import { trustFindings } from '../../domain/consent.ts';
import { partyNotFound } from '../../domain/party.ts';
import { readCertificate } from '../../domain/x509.ts';
import type { Call, Exchange } from '../context.ts';
import { mutate } from '../mutate.ts';
import { trustCheck } from '../trust.ts';
import { certificateName, partyOf, viewCertificate } from './view.ts';

export async function createCertificate(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'createCertificate'>,
): Promise<Certificate> {
  const { body } = request;
  const party = partyOf(request.path);
  const { x509Der, subjectKeyIdentifier, notBefore, notAfter } = readCertificate(body);
  return mutate('createCertificate', exchange, call, request, async (tx) => {
    if (!(await partyExists(tx, party))) throw partyNotFound(party);
    const now = exchange.clock();
    const certificate: CertificateRecord = {
      party,
      id: exchange.newId(),
      x509Der,
      subjectKeyIdentifier,
      notBefore,
      notAfter,
      revocationState: undefined,
      version: 1,
      createTime: now,
    };
    const obstacle = await findObstacle(tx, certificate);
    if (obstacle !== undefined) throw alreadyExists(obstacle, certificate);
    const field = body.x509Der === undefined ? 'x509Pem' : 'x509Der';
    const whyUntrusted = trustCheck(await rootsForParties(tx, [party]), now);
    return {
      findings: trustFindings(field, await whyUntrusted(certificate)),
      save: () => insertCertificate(tx, certificate, now),
      savesToValidate: true,
      versions: [{ name: certificateName(party, certificate.id), version: 1, time: now }],
      view: () => viewCertificate(certificate),
    };
  });
}

/** Another party's certificate is not named: the caller must not learn whose key it is. */
function alreadyExists(obstacle: CertificateRecord, wanted: CertificateRecord): ExchangeError {
  if (!equalBytes(obstacle.x509Der, wanted.x509Der)) {
    return new ExchangeError(
      'CERT_SUBJECT_KEY_ID_ALREADY_EXISTS',
      'Another party has a certificate with this subject key identifier: use a key of your own.',
    );
  }
  const existing = obstacle.party === wanted.party ? certificateName(obstacle.party, obstacle.id) : undefined;
  return new ExchangeError('CERTIFICATE_ALREADY_EXISTS', 'This certificate is registered already.', {
    ...(existing && { metadata: { existing } }),
  });
}
