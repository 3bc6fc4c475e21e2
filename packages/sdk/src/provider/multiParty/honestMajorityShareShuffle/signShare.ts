import { create, toBinary } from '@bufbuild/protobuf';
import { encrypt, packSignedMessage, SEED_PURPOSE } from '@measurement-exchange/consent';
import { duchyMessages, specs, TYPE_URLS } from '@measurement-exchange/contract';
import type { Sealing } from '../../fulfill.ts';
import type { Upload } from '../../ledger/responses.ts';
import type { VerifiedRequisition } from '../../verify.ts';
import { signUpload } from '../fulfillment.ts';
import type { StoredShare } from './share.ts';

/** Signs the seed, and encrypts it for the worker that does not receive the upload. Then signs the upload. */
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
