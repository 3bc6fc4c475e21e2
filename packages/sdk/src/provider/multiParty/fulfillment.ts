/**
 * Signs an upload. The signature covers the requisition, the computation and its duchies, and the digest of the data.
 */
import { create, toBinary } from '@bufbuild/protobuf';
import { duchyMessages, FULFILLMENT_PURPOSE, FulfillmentPart, toJson } from '@measurement-exchange/contract';
import type { Sealing } from '../fulfill.ts';
import type { Upload } from '../ledger/responses.ts';
import type { VerifiedComputation } from '../verify/duchies.ts';
import type { VerifiedRequisition } from '../verify.ts';
import type { StoredFile } from './storedFile.ts';

type Fields = Pick<
  duchyMessages.Fulfillment,
  'protocol' | 'populationFingerprint' | 'registerCount' | 'protocolData'
>;

export async function signUpload(
  { name, nonce }: VerifiedRequisition,
  agreed: VerifiedComputation,
  { sha256, length }: StoredFile,
  { signer, certificate }: Sealing,
  fields: Fields,
): Promise<Upload> {
  const { fingerprint, fulfillingDuchy: duchy, computation, termsSha256 } = agreed;
  const fulfillment = create(duchyMessages.FulfillmentSchema, {
    purpose: FULFILLMENT_PURPOSE,
    requisition: name,
    requisitionFingerprint: fingerprint,
    nonce,
    dataSha256: sha256,
    dataLength: BigInt(length),
    duchy,
    certificate,
    computation,
    termsSha256,
    ...fields,
  });
  const signed = await signer.sign(toBinary(duchyMessages.FulfillmentSchema, fulfillment));
  return { duchy, fulfillment: toJson(FulfillmentPart, { fulfillment: signed }) };
}
