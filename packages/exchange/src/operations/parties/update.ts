import { cachedCertificate, isSignedBy } from '@measurement-exchange/consent';
import type { PartyInput, SignedMessage } from '@measurement-exchange/contract';
import { usableCertificates } from '../../database/certificates.ts';
import { publicKeyUnverified, updateParty as update } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { changeParty } from './change.ts';

export const updateParty: Handler<'updateParty'> = async (exchange, call, request) => {
  const input = request.body as PartyInput;
  return changeParty('updateParty', exchange, call, request, async (tx, before, now) => {
    const after = update(before, input, now, exchange.duchyEndpoints);
    if (input.publicKey === undefined) return { after };
    const signer = await signerOf(input.publicKey, await usableCertificates(tx, before.name, now));
    return {
      after: { ...after, publicKeyCertificate: signer?.id },
      findings: signer === undefined ? [publicKeyUnverified()] : [],
    };
  });
};

/**
 * Returns the certificate whose key signed the party's public key. Tries one certificate at a time, because a party may
 * have many.
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
