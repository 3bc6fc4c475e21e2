import { create } from '@bufbuild/protobuf';
import { duchyMessages, signedLegionsTerms } from '@measurement-exchange/contract';
import type { Sealing } from '../../fulfill.ts';
import type { Upload } from '../../ledger/responses.ts';
import type { VerifiedRequisition } from '../../verify.ts';
import { signUpload } from '../fulfillment.ts';
import type { StoredFile } from '../storedFile.ts';

/**
 * Signs the sketch together with the terms of the computation: the duchies, the parameters, and the key that encrypts
 * the registers.
 */
export function signSketch(
  verified: VerifiedRequisition,
  sketch: StoredFile,
  sealing: Sealing,
): Promise<Upload> {
  const { protocol, config, combinedPublicKey } = verified.liquidLegions!;
  const value = create(duchyMessages.Fulfillment_LiquidLegionsSchema, {
    ...signedLegionsTerms(config),
    combinedPublicKey,
  });
  return signUpload(verified, verified.liquidLegions!, sketch, sealing, {
    protocol,
    populationFingerprint: new Uint8Array(),
    registerCount: BigInt(config.maxSize),
    protocolData: { case: 'liquidLegions', value },
  });
}
