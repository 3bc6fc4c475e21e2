import { isSignedBy } from '@measurement-exchange/consent';
import { invalid, parseName } from '@measurement-exchange/contract';
import { type CertificateRecord, lockCertificatesForShare } from '../../database/certificates.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import { partyName } from '../../domain/access.ts';
import { trustFindings } from '../../domain/consent.ts';
import {
  KEY_MEMBERS,
  type KeyMember,
  type ParameterKeys,
  readKeys,
  setParameters,
} from '../../domain/parameters.ts';
import type { Handler } from '../context.ts';
import { storedCertificate, trustCheck } from '../trust.ts';
import { changeComputation } from './change.ts';

export const setComputationParameters: Handler<'setComputationParameters'> = async (
  exchange,
  call,
  request,
) => {
  const { params, body } = request;
  const id = requireOwnCertificate(params.duchy, body.certificate);
  const keys = readKeys(body);
  const party = partyName('duchy', params.duchy);
  return changeComputation(
    'setComputationParameters',
    exchange,
    call,
    request,
    (tx) => Promise.all([lockCertificatesForShare(tx, [{ party, id }]), rootsForParties(tx, [party])]),
    async (before, duchy, [certificates, roots]) => {
      const now = exchange.clock();
      const certificate = certificates.get(body.certificate);
      const input = { etag: body.etag, certificate, keys, signed: await signedBy(certificate, keys) };
      const change = setParameters(before, duchy, input, now);
      const why = certificate && (await trustCheck(roots, now)(certificate));
      return { change, findings: trustFindings('certificate', why) };
    },
  );
};

export function requireOwnCertificate(duchy: string, name: string): string {
  const named = parseName('duchyCertificate', name)!;
  if (named.duchy === duchy) return named.certificate;
  const description = `must be a certificate of ${partyName('duchy', duchy)}`;
  throw invalid([{ field: 'certificate', description }]);
}

async function signedBy(
  certificate: CertificateRecord | undefined,
  keys: ParameterKeys,
): Promise<KeyMember[]> {
  const x509 = certificate && storedCertificate(certificate.x509Der);
  if (x509 === undefined) return [];
  const signed: KeyMember[] = [];
  for (const member of KEY_MEMBERS) {
    const key = keys[member];
    if (key !== undefined && (await isSignedBy(key, x509))) signed.push(member);
  }
  return signed;
}
