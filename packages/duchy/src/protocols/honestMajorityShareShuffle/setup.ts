import { create, toBinary } from '@bufbuild/protobuf';
import { shareShuffle } from '@measurement-exchange/contract';
import { readSecrets } from '../../database/index.ts';
import { ownUploads } from '../../stages/uploads.ts';
import type { StageFunction } from '../../stages/work.ts';

/**
 * Returns the message for the other worker: this worker's contribution to the seed that both workers share, and the
 * encrypted seeds that providers uploaded for the other worker.
 */
export const setup: StageFunction = async ({ duchy, computation }) => {
  const uploads = await ownUploads(duchy, computation);
  const { randomSeed } = await readSecrets(duchy.db, computation.id);
  const input = create(shareShuffle.ShufflePhaseInputSchema, {
    peerRandomSeed: randomSeed!,
    secretSeeds: uploads.map((upload) => ({
      requisitionId: upload.requisition.split('/').at(-1)!,
      secretSeedCiphertext: upload.secretSeed,
      registerCount: BigInt(upload.registerCount),
      dataProviderCertificate: upload.certificate,
    })),
  });
  return toBinary(shareShuffle.ShufflePhaseInputSchema, input);
};
