import { cachedCertificate, isSignedBy } from '@measurement-exchange/consent';
import { invalid, type PartyInput, type SignedMessage } from '@measurement-exchange/contract';
import { usableCertificates } from '../../database/certificates.ts';
import { certificateName } from '../../domain/certificate.ts';
import { publicKeyUnverified, requireKeyOfCertificate, updateParty as update } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { changeParty } from './change.ts';

export const updateParty: Handler<'updateParty'> = async (exchange, call, request) => {
  const input = request.body as PartyInput;
  return changeParty('updateParty', exchange, call, request, async (tx, before, now) => {
    const after = update(before, input, now, exchange.duchyEndpoints, request.keeps);
    requireKeyOfCertificate(input);
    if (input.publicKey === undefined) return { after };
    const usable = await usableCertificates(tx, before.name, now);
    const signer = await signerOf(
      input.publicKey,
      candidatesOf(before.name, usable, input.publicKeyCertificate),
    );
    return {
      after: { ...after, publicKeyCertificate: signer?.id },
      findings: signer === undefined ? [publicKeyUnverified()] : [],
    };
  });
};

/** Returns all usable certificates, or only the certificate `named`. Throws if that certificate is not usable. */
function candidatesOf<C extends { id: string }>(party: string, usable: C[], named: string | undefined): C[] {
  if (named === undefined) return usable;
  const candidates = usable.filter(({ id }) => certificateName(party, id) === named);
  if (candidates.length > 0) return candidates;
  const description = `is not a certificate of ${party} that is valid now`;
  throw invalid([{ field: 'publicKeyCertificate', description }]);
}

/**
 * Returns the certificate whose key signed the party's public key. Checks the certificates one after another and stops
 * at the first match, because a party may have many certificates.
 */
async function signerOf<C extends { x509Der: Uint8Array }>(
  key: SignedMessage,
  certificates: C[],
): Promise<C | undefined> {
  for (const certificate of certificates) {
    if (await isSignedBy(key, cachedCertificate(certificate.x509Der))) return certificate;
  }
  return undefined;
}
