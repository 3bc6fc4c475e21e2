import { createHash } from 'node:crypto';
import { nonceMatches, unpackSignedMessage, verifySignature } from '@measurement-exchange/consent';
import { duchyMessages, equalBytes } from '@measurement-exchange/contract';
import { requireConsent, trustedCertificate } from '../../computations/certificates.ts';
import type { Duchy } from '../../computations/context.ts';
import { PermanentError } from '../../computations/errors.ts';
import { confirmParticipation } from '../../computations/exchange.ts';
import { ownPlace } from '../../computations/places.ts';
import { readBlob, type StoredUpload } from '../../database/index.ts';
import { verifiedPeerKey } from '../../peers/verifiedKey.ts';
import { readMessage } from '../../stages/message.ts';
import { ownUploads } from '../../stages/uploads.ts';
import type { StageFunction, Work } from '../../stages/work.ts';
import { ownKeys } from './keys.ts';
import { legionsConfig, wrongKey, wrongTerm } from './terms.ts';

/**
 * Verifies the computation's final input: all providers' nonces, the duchies' terms and keys, and the uploads. Then
 * confirms to the exchange that this duchy is ready to compute.
 */
export const confirm: StageFunction = async (work) => {
  const { duchy, computation } = work;
  await requireNonces(work);
  await requireSameTerms(work);
  const { key } = await ownKeys(work);
  for (const upload of await ownUploads(duchy, computation)) await requireUpload(work, upload, key);
  await confirmParticipation(duchy.client, computation.view.name!, duchy.name);
  return undefined;
};

/**
 * Checks that all duchies have the same terms. Each duchy signed its terms together with its key for encrypting
 * messages, so verifying that key also compares the terms. `ownKeys` verifies the ElGamal keys.
 */
async function requireSameTerms({ duchy, computation }: Work): Promise<void> {
  const { ring } = ownPlace(computation.view);
  for (const peer of ring) if (peer !== duchy.name) await verifiedPeerKey(duchy, computation, peer);
}

/** Checks every provider's nonce, which proves that the provider decrypted the requisition that the consumer signed. */
async function requireNonces({ computation }: Work): Promise<void> {
  for (const { name, nonce, nonceHash } of computation.view.requisitions) {
    if (nonce === undefined || !(await nonceMatches(nonce, nonceHash))) {
      throw new PermanentError('NONCE_MISMATCH', { requisition: name });
    }
  }
}

/**
 * Checks that the provider signed this upload for the terms and the keys of this computation. `combined` is the
 * duchies' combined public key.
 */
async function requireUpload(
  { duchy, computation }: Work,
  { requisition, dataProvider, certificate, signedFulfillment, blob }: StoredUpload,
  combined: Uint8Array,
): Promise<void> {
  const signed = unpackSignedMessage(signedFulfillment);
  const signer = await trustedCertificate(duchy, dataProvider, certificate);
  await requireConsent('SIGNATURE_INVALID', { requisition }, verifySignature(signed, signer));
  const invalid = new PermanentError('UPLOAD_INVALID', { requisition });
  const fulfillment = readMessage(duchyMessages.FulfillmentSchema, signed.message, invalid);
  const { protocolData, dataSha256 } = fulfillment;
  if (protocolData.case !== 'liquidLegions') throw invalid;
  const config = legionsConfig(computation);
  const violation = wrongTerm(protocolData.value, config) ?? wrongKey(protocolData.value, combined);
  if (violation) throw new PermanentError('UPLOAD_INVALID', { field: violation.field, requisition });
  if (!equalBytes(await digestOf(duchy, blob), dataSha256)) {
    throw new PermanentError('UPLOAD_INVALID', { field: 'dataSha256', requisition });
  }
}

async function digestOf({ db }: Duchy, blob: string): Promise<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of readBlob(db, blob)) hash.update(chunk);
  return hash.digest();
}
