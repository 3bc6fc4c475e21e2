/** The parts of a protocol that a duchy defines in addition to the mathematics. */
import type { duchyMessages } from '@measurement-exchange/contract';
import type { MessageSize } from '@measurement-exchange/mpc/protocols/messageSize';
import type { Duchy } from '../computations/context.ts';
import type { StoredComputation } from '../database/index.ts';
import type { StageFunction } from '../stages/work.ts';

export interface DuchyProtocol<Stage extends string> {
  /** The functions to which the table of stages refers. */
  stages: Readonly<Record<Stage, StageFunction>>;
  upload: UploadRules;
  /** Returns the size of another duchy's message before encryption. A larger message is rejected. */
  messageSize(computation: StoredComputation, message: string, sender: string): MessageSize;
}

/** The rules of a protocol for its uploads, in addition to the rules for all uploads. */
export interface UploadRules {
  dataLength(computation: StoredComputation): number;
  /** Returns the encrypted seed for another duchy, or an empty array. Throws if the provider was told other terms. */
  secretSeed(fulfillment: duchyMessages.Fulfillment, computation: StoredComputation): Uint8Array;
  /** Makes checks that need the exchange, after the signature was verified. */
  requireKeys?(
    duchy: Duchy,
    fulfillment: duchyMessages.Fulfillment,
    computation: StoredComputation,
  ): Promise<void>;
  /** Yields the bytes to store, and checks them. */
  checked(
    duchy: Duchy,
    data: AsyncIterable<Uint8Array>,
    computation: StoredComputation,
    requisition: string,
  ): AsyncIterable<Uint8Array>;
}
