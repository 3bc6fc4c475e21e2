import { ConsentError, cachedCertificate, isSignedBy } from '@measurement-exchange/consent';
import {
  type Computation,
  invalid,
  parseName,
  type RequestOf,
  type SignedMessage,
} from '@measurement-exchange/contract';
import { type CertificateRecord, shareCertificates } from '../../database/certificates.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import { partyName } from '../../domain/access.ts';
import { requireParametersKey, setParameters } from '../../domain/computation.ts';
import { trustFindings } from '../../domain/consent.ts';
import type { Call, Exchange } from '../context.ts';
import { trustCheck } from '../trust.ts';
import { changeComputation } from './change.ts';

export async function setComputationParameters(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'setComputationParameters'>,
): Promise<Computation> {
  const { params, body } = request;
  const id = requireOwnCertificate(params.duchy, body.certificate);
  const publicKey = body.honestMajorityShareShuffle?.publicKey;
  requireParametersKey(publicKey);
  const party = partyName('duchy', params.duchy);
  return changeComputation(
    'setComputationParameters',
    exchange,
    call,
    request,
    (tx) => Promise.all([shareCertificates(tx, [{ party, id }]), rootsForParties(tx, [party])]),
    async (before, duchy, [certificates, roots]) => {
      const now = exchange.clock();
      const certificate = certificates.get(body.certificate);
      const isKeySigned = await isSigned(publicKey, certificate);
      const input = { etag: body.etag, certificate, publicKey, isKeySigned };
      const change = setParameters(before, duchy, input, now);
      const why = certificate && (await trustCheck(roots, now)(certificate));
      return { change, findings: trustFindings('certificate', why) };
    },
  );
}

/** The ID of a certificate of the duchy itself. */
export function requireOwnCertificate(duchy: string, name: string): string {
  const named = parseName('duchyCertificate', name)!;
  if (named.duchy === duchy) return named.certificate;
  const description = `must be a certificate of ${partyName('duchy', duchy)}`;
  throw invalid([{ field: 'certificate', description }]);
}

async function isSigned(
  message: SignedMessage | undefined,
  certificate: CertificateRecord | undefined,
): Promise<boolean> {
  if (message === undefined || certificate === undefined) return false;
  try {
    return await isSignedBy(message, cachedCertificate(certificate.x509Der));
  } catch (error) {
    // Of a certificate that was registered before today's rules for reading certificates.
    if (error instanceof ConsentError) return false;
    throw error;
  }
}
