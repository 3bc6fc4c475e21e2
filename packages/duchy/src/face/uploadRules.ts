import type { duchyMessages } from '@measurement-exchange/contract';
import type { Duchy } from '../computations/context.ts';
import type { StoredComputation } from '../database/index.ts';

/** What is right about the uploads of a protocol, beyond what all of them have in common. */
export interface UploadRules {
  dataLength(computation: StoredComputation): number;
  /** Whose people an upload is about; none where the protocol needs no population. */
  population?(computation: StoredComputation): { name: string; fingerprint: Uint8Array };
  /** What the upload has for another duchy, if anything. Throws where the provider was told something else about who computes, and how. */
  secretSeed(fulfillment: duchyMessages.Fulfillment, computation: StoredComputation): Uint8Array;
  /** Once the signature is checked: what the exchange has to be asked for. */
  requireKeys?(
    duchy: Duchy,
    fulfillment: duchyMessages.Fulfillment,
    computation: StoredComputation,
  ): Promise<void>;
  /** What is stored of the data, checked while it passes. */
  checked(
    duchy: Duchy,
    data: AsyncIterable<Uint8Array>,
    computation: StoredComputation,
    requisition: string,
  ): AsyncIterable<Uint8Array>;
}
