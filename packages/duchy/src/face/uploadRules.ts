import type { duchyMessages } from '@measurement-exchange/contract';
import type { Duchy } from '../computations/context.ts';
import type { StoredComputation } from '../database/index.ts';

/** The rules of a protocol for its uploads, beyond the rules for all uploads. */
export interface UploadRules {
  dataLength(computation: StoredComputation): number;
  /** The population of an upload; absent where the protocol needs no population. */
  population?(computation: StoredComputation): { name: string; fingerprint: Uint8Array };
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
