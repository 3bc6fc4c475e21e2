/** Defines the functions that a duchy needs to run a protocol. The protocol's math is in the package `mpc`. */
import type { duchyMessages } from '@measurement-exchange/contract';
import type { MessageSize } from '@measurement-exchange/mpc/protocols/messageSize';
import type { Duchy } from '../computations/context.ts';
import type { StoredComputation } from '../database/index.ts';
import type { StageFunction } from '../stages/work.ts';

export interface DuchyProtocol<Stage extends string> {
  /** The functions that compute the stages, by their names in the stage table. */
  stages: Readonly<Record<Stage, StageFunction>>;
  upload: UploadRules;
  /**
   * Returns the minimum and maximum size of a message from another duchy, before encryption. When a message arrives,
   * the duchy rejects it if it is larger than the maximum plus the overhead of encryption. Some protocols check the
   * minimum later, in the stage.
   */
  messageSize(computation: StoredComputation, message: string, sender: string): MessageSize;
}

export interface UploadRules {
  dataLength(computation: StoredComputation): number;
  /**
   * Returns the ciphertext of the seed that the provider encrypted for another duchy, or an empty array if the protocol
   * has no seed. Throws if the provider and this duchy have different terms.
   */
  secretSeed(fulfillment: duchyMessages.Fulfillment, computation: StoredComputation): Uint8Array;
  /** Throws unless the provider used the duchies' combined key. Runs after the signature has been verified. */
  requireKeys?(
    duchy: Duchy,
    fulfillment: duchyMessages.Fulfillment,
    computation: StoredComputation,
  ): Promise<void>;
  checked(
    duchy: Duchy,
    data: AsyncIterable<Uint8Array>,
    computation: StoredComputation,
    requisition: string,
  ): AsyncIterable<Uint8Array>;
}
