import {
  decrypt,
  requireBinding,
  SEED_PURPOSE,
  seedCommitment,
  unpackSignedMessage,
  verifySignature,
} from '@measurement-exchange/consent';
import {
  type ComputationRequisition,
  equalBytes,
  type Position,
  shareShuffle,
  specs,
} from '@measurement-exchange/contract';
import { combineSeeds, SEED_BYTES } from '@measurement-exchange/mpc/shares';
import { requireConsent, trustedCertificate } from '../../computations/certificates.ts';
import { PermanentError } from '../../computations/errors.ts';
import { duchyAt } from '../../computations/places.ts';
import { planOf } from '../../computations/plan.ts';
import { termsOf } from '../../computations/terms.ts';
import { readBlob, readSecrets } from '../../database/index.ts';
import { received } from '../../peers/inbox.ts';
import { verifiedPeerKey } from '../../peers/verifiedKey.ts';
import { readMessage } from '../../stages/message.ts';
import { ownUploads } from '../../stages/uploads.ts';
import type { StageFunction, Work } from '../../stages/work.ts';
import { shuffleInThread } from './shuffleThread.ts';

const PEERS = {
  FIRST_WORKER: { role: 'SECOND_WORKER', message: 'SHUFFLE_PHASE_INPUT_TWO' },
  SECOND_WORKER: { role: 'FIRST_WORKER', message: 'SHUFFLE_PHASE_INPUT_ONE' },
} as const;

/**
 * Adds up all providers' shares and appends shares of both workers' noise. Then shuffles all registers. If only reach
 * is measured, hides the frequencies: multiplies the sums by random factors before appending the noise.
 */
export const shuffle: StageFunction = async (work) => {
  const { duchy, computation } = work;
  const { id, role } = computation;
  if (role !== 'FIRST_WORKER' && role !== 'SECOND_WORKER') {
    throw new PermanentError('PROTOCOL_UNKNOWN', { stage: computation.stage });
  }
  const { parameters } = planOf('honestMajorityShareShuffle', computation);
  const { message: stage, role: peerRole } = PEERS[role];
  const peer = duchyAt(peerRole, computation.view);
  const message = await Array.fromAsync(received(duchy, computation, stage, peer));
  const input = await readInput(work, Buffer.concat(message), { stage, duchy: peer });
  const uploads = await ownUploads(duchy, computation);
  const seeds = await peerSeeds(work, peer, input, stage);
  const { randomSeed, noiseSeed } = await readSecrets(duchy.db, id);
  const shares = [
    ...uploads.map(({ blob }) => ({ upload: readBlob(duchy.db, blob) })),
    ...seeds.map((seed) => ({ seed })),
  ];
  const commonSeed = combineSeeds(randomSeed!, input.peerRandomSeed);
  return shuffleInThread({ parameters, role, shares, commonSeed, noiseSeed: noiseSeed! }, work.signal);
};

/**
 * Decodes the other worker's message. Throws if the seed contribution in the message differs from the one to which the
 * other worker committed when it published its key. Without this check, the other worker could first see this worker's
 * contribution, and then choose the shared seed. That seed determines the order of all registers, and how both workers'
 * noise is split into shares.
 */
async function readInput(
  { duchy, computation }: Work,
  bytes: Uint8Array,
  position: Required<Pick<Position, 'stage' | 'duchy'>>,
): Promise<shareShuffle.ShufflePhaseInput> {
  const invalid = new PermanentError('PEER_MESSAGE_INVALID', position);
  const input = readMessage(shareShuffle.ShufflePhaseInputSchema, bytes, invalid);
  const { peerRandomSeed } = input;
  if (peerRandomSeed.length !== SEED_BYTES) throw invalid;
  const peer = position.duchy!;
  const committed = (await verifiedPeerKey(duchy, computation, peer)).seedCommitment;
  if (!equalBytes(await seedCommitment(peerRandomSeed, peer, computation.id), committed)) {
    throw new PermanentError('PEER_MESSAGE_INVALID', { field: 'peerRandomSeed', ...position });
  }
  return input;
}

/**
 * Decrypts the seeds in the other worker's message. Throws unless the message has exactly one seed for each requisition
 * whose provider uploads to that worker.
 */
async function peerSeeds(
  work: Work,
  peer: string,
  { secretSeeds }: shareShuffle.ShufflePhaseInput,
  message: string,
): Promise<Uint8Array[]> {
  const { requisitions } = work.computation.view;
  const expected = requisitions.filter(({ fulfillingDuchy }) => fulfillingDuchy === peer);
  const byId = new Map(secretSeeds.map((seed) => [seed.requisitionId, seed]));
  const found = expected.map(({ name }) => byId.get(name.split('/').at(-1)!));
  if (secretSeeds.length !== expected.length || found.includes(undefined)) {
    throw new PermanentError('PEER_MESSAGE_INVALID', { stage: message, duchy: peer });
  }
  const seeds: Uint8Array[] = [];
  for (const [i, requisition] of expected.entries()) seeds.push(await openSeed(work, requisition, found[i]!));
  return seeds;
}

/** Decrypts a seed. Throws if the requisition's provider did not sign it for this worker and computation. */
async function openSeed(
  { duchy, computation }: Work,
  { name, dataProvider }: ComputationRequisition,
  seed: shareShuffle.ShufflePhaseInput_SecretSeed,
): Promise<Uint8Array> {
  const invalid = (detail: string) => new PermanentError('SEED_INVALID', { requisition: name }, { detail });
  if (seed.registerCount !== BigInt(computation.registerCount)) {
    throw invalid('another number of registers');
  }
  const certificate = await trustedCertificate(duchy, dataProvider, seed.dataProviderCertificate);
  const { privateKeyset } = await readSecrets(duchy.db, computation.id);
  const opened = decrypt(privateKeyset!, seed.secretSeedCiphertext).then(unpackSignedMessage);
  const signed = await requireConsent('SEED_INVALID', { requisition: name }, opened);
  await requireConsent('SEED_INVALID', { requisition: name }, verifySignature(signed, certificate));
  const { data, binding } = readMessage(specs.RandomSeedSchema, signed.message, invalid('no RandomSeed'));
  const expected = {
    ...{ purpose: SEED_PURPOSE, duchy: duchy.name, requisition: name, computation: computation.id },
    termsSha256: await termsOf(computation),
  };
  const bound = Promise.try(() => requireBinding('The RandomSeed', binding, expected));
  await requireConsent('SEED_INVALID', { requisition: name }, bound);
  if (data.length !== SEED_BYTES) throw invalid('another length');
  return data;
}
