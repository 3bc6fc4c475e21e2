/** The sizes of messages between duchies; a larger message is rejected. */

import { type NoiseParameters, TUPLE_BYTES } from '@measurement-exchange/mpc/liquidLegions';
import type { MpcProtocol } from '@measurement-exchange/mpc/protocols';
import { shuffledCount } from '@measurement-exchange/mpc/shareShuffle';
import {
  CIPHERTEXT_BYTES,
  FREQUENCY_REGISTER_BYTES,
  REACH_REGISTER_BYTES,
} from '@measurement-exchange/mpc/sketches';
import { PermanentError } from '../computations/errors.ts';
import { ownPlace } from '../computations/places.ts';
import { planOf } from '../computations/plan.ts';
import type { StoredComputation } from '../database/index.ts';

/** The size of an encrypted seed with its signature and names; a seed of an upload may have 8 KiB. */
const SEED_BYTES = 10 * 1024;
/** The size of the parts that a message has once. */
const ENVELOPE_BYTES = 64 * 1024;
/** Encryption makes a message longer by less than this factor. */
const ENCRYPTION = 1.02;

/** The size in bytes before encryption. */
export interface MessageSize {
  least: number;
  most: number;
}

/** The largest message that a computation can need, encrypted. */
export function largestMessage(computation: StoredComputation, message: string, sender: string): number {
  return Math.ceil(messageSize(computation, message, sender).most * ENCRYPTION) + ENVELOPE_BYTES;
}

export function messageSize(computation: StoredComputation, message: string, sender: string): MessageSize {
  return SIZES[computation.protocol](computation, message, sender);
}

const SIZES: Record<
  MpcProtocol,
  (computation: StoredComputation, message: string, sender: string) => MessageSize
> = {
  honestMajorityShareShuffle(computation, message) {
    const most =
      message === 'AGGREGATION_PHASE_INPUT'
        ? shuffledCount(planOf('honestMajorityShareShuffle', computation).parameters)
        : computation.view.requisitions.length * SEED_BYTES;
    return { least: 0, most };
  },

  reachOnlyLiquidLegionsV2(computation, message, sender) {
    const { parameters } = planOf('reachOnlyLiquidLegionsV2', computation);
    const registers =
      message === 'SETUP_PHASE_INPUT'
        ? registersOf(computation, parameters, sender)
        : allRegisters(computation, parameters);
    return exactly(registers * REACH_REGISTER_BYTES + CIPHERTEXT_BYTES);
  },

  liquidLegionsV2(computation, message, sender) {
    const { parameters } = planOf('liquidLegionsV2', computation);
    const { noiseTupleCount, duchyCount, maximumFrequency } = parameters;
    const registers = allRegisters(computation, parameters);
    switch (message) {
      case 'SETUP_PHASE_INPUT':
        return exactly(registersOf(computation, parameters, sender) * FREQUENCY_REGISTER_BYTES);
      case 'EXECUTION_PHASE_ONE_INPUT':
        return exactly(registers * FREQUENCY_REGISTER_BYTES);
      case 'EXECUTION_PHASE_TWO_INPUT': {
        // The round starts at the aggregator, so its noise and that of the workers up to the sender is in the message.
        const noise =
          (1 + ((ownPlace(computation.view).ring.indexOf(sender) + 1) % duchyCount)) * noiseTupleCount;
        return { least: noise * TUPLE_BYTES, most: (registers + noise) * TUPLE_BYTES };
      }
      case 'EXECUTION_PHASE_THREE_INPUT': {
        const tuples = registers + duchyCount * noiseTupleCount;
        return { least: 0, most: tuples * (maximumFrequency - 1) * CIPHERTEXT_BYTES };
      }
      default:
        throw new PermanentError('PROTOCOL_UNKNOWN', { stage: message });
    }
  },
};

function exactly(bytes: number): MessageSize {
  return { least: bytes, most: bytes };
}

/** The sketches that a worker received, and its noise. */
function registersOf(
  { view, registerCount }: StoredComputation,
  noise: NoiseParameters,
  worker: string,
): number {
  const taken = view.requisitions.filter(({ fulfillingDuchy }) => fulfillingDuchy === worker).length;
  return taken * registerCount + noise.noiseRegisterCount;
}

/** All sketches, and the noise of all duchies. */
function allRegisters({ view, registerCount }: StoredComputation, noise: NoiseParameters): number {
  return view.requisitions.length * registerCount + noise.duchyCount * noise.noiseRegisterCount;
}
