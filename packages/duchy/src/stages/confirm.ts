import { createHash } from 'node:crypto';
import { nonceMatches, unpackSignedMessage, verifySignature } from '@measurement-exchange/consent';
import { duchyMessages, equalBytes, type Violation } from '@measurement-exchange/contract';
import { requireConsent, trustedCertificate } from '../certificates.ts';
import type { Duchy } from '../context.ts';
import { readBlob, type StoredUpload } from '../database/index.ts';
import { PermanentError } from '../errors.ts';
import { confirmParticipation } from '../exchange.ts';
import { ownKeys } from './legionsKeys.ts';
import { wrongKey, wrongTerm } from './legionsTerms.ts';
import { readMessage } from './message.ts';
import { legionsOf } from './plan.ts';
import type { StageFunction, Work } from './table.ts';
import { ownUploads } from './uploads.ts';

/**
 * Says that this duchy is ready to compute, after a last look at what it will compute with: the nonces of all providers, and
 * keys and uploads as they are now, when nothing of them can change any more.
 */
export const confirm: StageFunction = async (work) => {
  const { duchy, computation } = work;
  await requireNonces(work);
  const { key } = await ownKeys(work);
  for (const upload of await ownUploads(duchy, computation)) await requireUpload(work, upload, key);
  await confirmParticipation(duchy.client, computation.view.name!, duchy.name);
  return undefined;
};

/** Each provider opened the requisition that the consumer signed for it. */
async function requireNonces({ computation }: Work): Promise<void> {
  for (const { name, nonce, nonceHash } of computation.view.requisitions) {
    if (nonce === undefined || !(await nonceMatches(nonce, nonceHash))) {
      throw new PermanentError(`The nonce of ${name} does not hash to what the consumer signed.`);
    }
  }
}

/** Its provider signed these bytes for this ring. */
async function requireUpload(
  { duchy, computation }: Work,
  { requisition, dataProvider, certificate, signedFulfillment, blob }: StoredUpload,
  combined: Uint8Array,
): Promise<void> {
  const what = `The upload of ${requisition}`;
  const signed = unpackSignedMessage(signedFulfillment);
  const signer = await trustedCertificate(duchy, dataProvider, certificate);
  await requireConsent(what, verifySignature(signed, signer));
  const fulfillment = readMessage(duchyMessages.FulfillmentSchema, signed.message, what);
  const { protocolData, dataSha256 } = fulfillment;
  if (protocolData.case !== 'liquidLegions') throw new PermanentError(`${what} is none of a sketch.`);
  const { config } = legionsOf(computation.view);
  requireNone(what, wrongTerm(protocolData.value, config) ?? wrongKey(protocolData.value, combined));
  if (!equalBytes(await digestOf(duchy, blob), dataSha256)) {
    throw new PermanentError(`${what} does not have the SHA-256 that its provider signed.`);
  }
}

function requireNone(what: string, violation: Violation | undefined): void {
  if (violation) throw new PermanentError(`${what}: ${violation.field} ${violation.description}.`);
}

async function digestOf({ db }: Duchy, blob: string): Promise<Uint8Array> {
  const hash = createHash('sha256');
  for await (const chunk of readBlob(db, blob)) hash.update(chunk);
  return hash.digest();
}
