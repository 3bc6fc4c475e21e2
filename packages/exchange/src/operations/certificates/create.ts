import { cachedCertificate, isSignedBy } from '@measurement-exchange/consent';
import { ExchangeError, type Timestamp } from '@measurement-exchange/contract';
import { type CertificateRecord, findCertificate, insertCertificate } from '../../database/certificates.ts';
import { lockParty, saveParty } from '../../database/parties.ts';
import { rootsForParties } from '../../database/trustedRoots.ts';
import { partyOf } from '../../domain/access.ts';
import { certificateName, whyUnusable } from '../../domain/certificate.ts';
import { trustFindings } from '../../domain/consent.ts';
import { bindPublicKey, type PartyRecord, partyNotFound } from '../../domain/party.ts';
import { readCertificate } from '../../domain/x509.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { trustCheck } from '../trust.ts';
import { viewCertificate } from './view.ts';

export const createCertificate: Handler<'createCertificate'> = async (exchange, call, request) => {
  const { body } = request;
  const party = partyOf(request.path);
  const described = readCertificate(body);
  return mutate('createCertificate', exchange, call, request, async (tx) => {
    const now = exchange.clock();
    // The lock serializes requests that register the same certificate or change the public key.
    const owner = await lockParty(tx, party, now);
    if (owner === undefined) throw partyNotFound(party);
    const certificate: CertificateRecord = {
      ...described,
      party,
      id: exchange.newId(),
      revocationState: undefined,
      version: 1,
      createTime: now,
    };
    const existing = await findCertificate(tx, certificate);
    if (existing !== undefined) throw alreadyExists(existing);
    const field = body.x509Der === undefined ? 'x509Pem' : 'x509Der';
    const whyUntrusted = trustCheck(await rootsForParties(tx, [party]), now);
    const findings = trustFindings(field, await whyUntrusted(certificate));
    const bound = (await verifiesKey(certificate, owner, now))
      ? bindPublicKey(owner, certificate.id, now)
      : undefined;
    return {
      findings,
      save: async () => {
        await insertCertificate(tx, certificate);
        if (bound !== undefined) saveParty(tx, bound);
      },
      savesToValidate: true,
      versions: [
        { name: certificateName(party, certificate.id), version: 1, time: now },
        ...(bound === undefined ? [] : [{ name: party, version: bound.version, time: bound.updateTime }]),
      ],
      view: () => viewCertificate(certificate),
    };
  });
};

/**
 * Returns whether the new certificate's key signed the party's public key. Returns false without a check of the
 * signature if the new certificate is unusable, or if another certificate is already recorded for the public key.
 */
async function verifiesKey(
  certificate: CertificateRecord,
  { publicKey, publicKeyCertificate }: PartyRecord,
  now: Timestamp,
): Promise<boolean> {
  if (publicKey === undefined || publicKeyCertificate !== undefined) return false;
  if (whyUnusable(certificate, now) !== undefined) return false;
  return isSignedBy(publicKey, cachedCertificate(certificate.x509Der));
}

function alreadyExists({ party, id }: CertificateRecord): ExchangeError {
  const message = `${party} has registered this certificate already.`;
  return new ExchangeError('CERTIFICATE_ALREADY_EXISTS', message, {
    metadata: { existing: certificateName(party, id) },
  });
}
