/**
 * Creates the stages of both Liquid Legions protocols, in which the duchies pass messages around a ring. The protocols
 * share some stages. All stages that process registers start with the same preparation.
 */
import { publishedKey } from '@measurement-exchange/consent';
import type { LiquidLegionsProtocol } from '@measurement-exchange/contract';
import { proveSecret } from '@measurement-exchange/mpc/elGamal';
import type { MpcParameters } from '@measurement-exchange/mpc/protocols';
import type { NoiseParameters } from '@measurement-exchange/mpc/protocols/liquidLegions/noiseParameters';
import type { RingKeys } from '@measurement-exchange/mpc/protocols/liquidLegions/ringKeys';
import type { RingSetup } from '@measurement-exchange/mpc/protocols/liquidLegions/ringSetup';
import type { MessageSize, Sender } from '@measurement-exchange/mpc/protocols/messageSize';
import { PermanentError } from '../../computations/errors.ts';
import { ownPlace } from '../../computations/places.ts';
import { type Plan, planOf } from '../../computations/plan.ts';
import { readSecrets, type StoredComputation } from '../../database/index.ts';
import { encryptionKey, publishing } from '../../stages/publishKey.ts';
import { stageSeed } from '../../stages/stageSeed.ts';
import type { StageFunction, Work } from '../../stages/work.ts';
import { confirm } from './confirm.ts';
import { computed, fromPrevious, fromWorkers, ownSketches } from './input.ts';
import { elGamalKeyPair, ownKeys } from './keys.ts';

interface RingStages extends RingSetup<NoiseParameters> {
  messageSize(message: string, sender: Sender): MessageSize | undefined;
}

export interface Given<P extends LiquidLegionsProtocol, S extends RingStages> extends Work {
  plan: Plan<P>;
  stages: S;
  keys: RingKeys;
  seed: Uint8Array;
  sizeOf(message: string, sender: string): MessageSize;
}

const publishKey = publishing(async (secrets, context) => ({
  publicKey: encryptionKey(secrets, context),
  elGamalPublicKey: publishedKey(elGamalKeyPair(secrets), context, proveSecret),
}));

/**
 * Creates the stages that both protocols share. Also returns the function `round`, which each protocol uses to create
 * its other stages.
 */
export function legionsStages<P extends LiquidLegionsProtocol, S extends RingStages>(
  protocol: P,
  stagesOf: (parameters: MpcParameters<P>) => S,
) {
  const stage =
    (compute: (given: Given<P, S>) => Promise<Uint8Array>): StageFunction =>
    async (work) => {
      const { duchy, computation } = work;
      const plan = planOf(protocol, computation);
      const stages = stagesOf(plan.parameters);
      const keys = await ownKeys(work);
      const seed = stageSeed(await readSecrets(duchy.db, computation.id), computation.stage);
      const sizeOf = (message: string, sender: string) => requireSize(stages, computation, message, sender);
      const position = { stage: computation.stage };
      return computed(position, () => compute({ ...work, plan, stages, keys, seed, sizeOf }));
    };
  /** Creates a stage whose input is the message from the previous duchy in the ring. */
  const round = (message: string, compute: (given: Given<P, S>, input: Uint8Array) => Promise<Uint8Array>) =>
    stage(async (given) => compute(given, await fromPrevious(given, message)));
  return {
    round,
    common: {
      publishKey,
      confirm,
      /** A worker combines its noise with the sketches that it received. */
      setup: stage(async (given) =>
        given.stages.setup(await ownSketches(given), given.keys, given.seed, given),
      ),
      /** The aggregator combines its noise with the messages from all workers. */
      combine: stage(async (given) => {
        const messages = await fromWorkers(given, 'SETUP_PHASE_INPUT');
        const { stages, keys, seed, signal } = given;
        const noise = await stages.setup([], keys, seed, { signal });
        return stages.combine([...messages, noise], keys, seed, given);
      }),
    },
    messageSize: (computation: StoredComputation, message: string, sender: string) =>
      requireSize(stagesOf(planOf(protocol, computation).parameters), computation, message, sender),
  };
}

function requireSize(stages: RingStages, { view }: StoredComputation, message: string, sender: string) {
  const uploads = view.requisitions.filter(({ fulfillingDuchy }) => fulfillingDuchy === sender).length;
  const size = stages.messageSize(message, { uploads, place: ownPlace(view).ring.indexOf(sender) });
  if (size === undefined) throw new PermanentError('PROTOCOL_UNKNOWN', { stage: message });
  return size;
}
