/** The parts of a protocol that a duchy defines, besides the mathematics. */
import type { duchyMessages } from '@measurement-exchange/contract';
import type { MessageSize } from '@measurement-exchange/mpc/protocols/messageSize';
import type { Duchy } from '../computations/context.ts';
import type { StoredComputation } from '../database/index.ts';
import type { StageFunction } from '../stages/work.ts';

export interface DuchyProtocol<Stage extends string> {
  /** The functions that the table of stages names. */
  stages: Readonly<Record<Stage, StageFunction>>;
  upload: UploadRules;
  /** The size of a message of another duchy before encryption; a larger message is rejected. */
  messageSize(computation: StoredComputation, message: string, sender: string): MessageSize;
}

/** The rules of a protocol for its uploads, beyond the rules for all uploads. */
export interface UploadRules {
  dataLength(computation: StoredComputation): number;
  /** The encrypted seed for another duchy, or empty. Throws where the provider was told of other duchies or other noise. */
  secretSeed(fulfillment: duchyMessages.Fulfillment, computation: StoredComputation): Uint8Array;
  /** Checks that need the exchange, made after the signature was verified. */
  requireKeys?(
    duchy: Duchy,
    fulfillment: duchyMessages.Fulfillment,
    computation: StoredComputation,
  ): Promise<void>;
  /** The bytes to store, checked while they pass. */
  checked(
    duchy: Duchy,
    data: AsyncIterable<Uint8Array>,
    computation: StoredComputation,
    requisition: string,
  ): AsyncIterable<Uint8Array>;
}
