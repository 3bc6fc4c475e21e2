/** What a provider signs for an upload: whose it is, for which computation by whom, and the digest of the share. */
import { create, toBinary } from '@bufbuild/protobuf';
import { encrypt, packSignedMessage } from '@measurement-exchange/consent';
import {
  duchyMessages,
  FULFILLMENT_PURPOSE,
  FulfillmentPart,
  specs,
  TYPE_URLS,
  toJson,
} from '@measurement-exchange/contract';
import type { Sealing } from '../fulfill.ts';
import type { Upload } from '../ledger.ts';
import type { VerifiedRequisition } from '../verify.ts';
import type { StoredShare } from './share.ts';

/** Signs the seed and encrypts it for the other worker, then signs the whole for the duchy that takes the share. */
export async function signUpload(
  { name, nonce, shareShuffle }: VerifiedRequisition,
  share: StoredShare,
  { signer, certificate }: Sealing,
): Promise<Upload> {
  const { config, fingerprint, fulfillingDuchy: duchy, peerKeyset } = shareShuffle!;
  const { firstWorker, secondWorker, aggregator, noiseMechanism, ringModulus } = config;
  const seed = await signer.sign(
    toBinary(specs.RandomSeedSchema, create(specs.RandomSeedSchema, { data: share.seed })),
  );
  const ciphertext = await encrypt(peerKeyset, packSignedMessage(seed, TYPE_URLS.RandomSeed));
  const fulfillment = create(duchyMessages.FulfillmentSchema, {
    purpose: FULFILLMENT_PURPOSE,
    requisition: name,
    requisitionFingerprint: fingerprint,
    nonce,
    protocol: 'honestMajorityShareShuffle',
    populationFingerprint: config.populationFingerprint,
    registerCount: BigInt(share.registerCount),
    dataSha256: share.sha256,
    dataLength: BigInt(share.length),
    duchy,
    certificate,
    protocolData: {
      case: 'honestMajorityShareShuffle',
      value: {
        secretSeed: { ciphertext, typeUrl: TYPE_URLS.SignedMessage },
        ...{ firstWorker, secondWorker, aggregator, noiseMechanism, ringModulus },
      },
    },
  });
  const signed = await signer.sign(toBinary(duchyMessages.FulfillmentSchema, fulfillment));
  return { duchy, fulfillment: toJson(FulfillmentPart, { fulfillment: signed }) };
}
