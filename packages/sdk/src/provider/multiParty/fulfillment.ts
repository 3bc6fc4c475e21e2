/** Signs an upload: its requisition, the computation and its duchies, and the digest of its data. */
import { create, toBinary } from '@bufbuild/protobuf';
import { encrypt, packSignedMessage, SEED_PURPOSE } from '@measurement-exchange/consent';
import {
  duchyMessages,
  FULFILLMENT_PURPOSE,
  FulfillmentPart,
  specs,
  TYPE_URLS,
  toJson,
} from '@measurement-exchange/contract';
import type { Sealing } from '../fulfill.ts';
import type { Upload } from '../ledger/responses.ts';
import type { AgreedTerms } from '../verify/duchies.ts';
import type { VerifiedRequisition } from '../verify.ts';
import type { StoredShare } from './share.ts';
import type { StoredFile } from './storedFile.ts';

type Fields = Pick<
  duchyMessages.Fulfillment,
  'protocol' | 'populationFingerprint' | 'registerCount' | 'protocolData'
>;

/** Signs the seed and encrypts it for the other worker, then signs the whole for the duchy that takes the share. */
export async function signShare(
  verified: VerifiedRequisition,
  share: StoredShare,
  sealing: Sealing,
): Promise<Upload> {
  const { config, computation, termsSha256, peer, peerKeyset } = verified.shareShuffle!;
  const { firstWorker, secondWorker, aggregator, noiseMechanism, ringModulus } = config;
  const binding = {
    purpose: SEED_PURPOSE,
    duchy: peer,
    requisition: verified.name,
    computation,
    termsSha256,
  };
  const seed = await sealing.signer.sign(
    toBinary(specs.RandomSeedSchema, create(specs.RandomSeedSchema, { data: share.seed, binding })),
  );
  const ciphertext = await encrypt(peerKeyset, packSignedMessage(seed, TYPE_URLS.RandomSeed));
  const value = create(duchyMessages.Fulfillment_HonestMajorityShareShuffleSchema, {
    secretSeed: { ciphertext, typeUrl: TYPE_URLS.SignedMessage },
    ...{ firstWorker, secondWorker, aggregator, noiseMechanism, ringModulus },
  });
  return signUpload(verified, verified.shareShuffle!, share, sealing, {
    protocol: 'honestMajorityShareShuffle',
    populationFingerprint: config.populationFingerprint,
    registerCount: BigInt(share.registerCount),
    protocolData: { case: 'honestMajorityShareShuffle', value },
  });
}

/** Signs what the provider agreed to: the ring, the parameters, and the key that the registers are encrypted for. */
export function signSketch(
  verified: VerifiedRequisition,
  sketch: StoredFile,
  sealing: Sealing,
): Promise<Upload> {
  const { protocol, config, combinedPublicKey } = verified.liquidLegions!;
  const { workers, aggregator, noiseMechanism, decayRate, maxSize } = config;
  const { histogramPrivacyParams: histogram, publisherPrivacyParams: publisher } = config;
  const value = create(duchyMessages.Fulfillment_LiquidLegionsSchema, {
    ...{ workers, aggregator, noiseMechanism, decayRate, combinedPublicKey },
    maxSize: BigInt(maxSize),
    histogramEpsilon: histogram.epsilon,
    histogramDelta: histogram.delta,
    publisherEpsilon: publisher.epsilon,
    publisherDelta: publisher.delta,
    samplingIndicatorSize: BigInt(config.samplingIndicatorSize ?? 0),
    maximumFrequency: config.maximumFrequency ?? 0,
  });
  return signUpload(verified, verified.liquidLegions!, sketch, sealing, {
    protocol,
    populationFingerprint: new Uint8Array(),
    registerCount: BigInt(maxSize),
    protocolData: { case: 'liquidLegions', value },
  });
}

async function signUpload(
  { name, nonce }: VerifiedRequisition,
  agreed: AgreedTerms & { fingerprint: Uint8Array; fulfillingDuchy: string },
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
