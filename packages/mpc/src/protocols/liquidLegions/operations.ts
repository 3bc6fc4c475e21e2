/**
 * The operations that the threads of a duchy's pool run. Inputs and outputs are bytes and numbers, which threads can
 * exchange.
 */
import { sortBlocks } from './blocks.ts';
import { compareTuples, decryptComparisons, findZeros } from './comparisons.ts';
import { drawNoiseRegisters } from './noiseRegisters.ts';
import { drawNoiseTuples, encryptNoiseTuples } from './noiseTuples.ts';
import {
  addCounts,
  blindRegisters,
  checkPoints,
  countDistinct,
  decryptCount,
  encryptCount,
  encryptNoiseRegisters,
  openIndexes,
  passCount,
  reRandomizeRegisters,
} from './registers.ts';
import { decryptTupleFlags, groupMembers, makeTuples } from './tuples.ts';
import type { Workspace } from './workspace.ts';

const batchOperations = {
  ...{ encryptNoiseRegisters, reRandomizeRegisters, blindRegisters, openIndexes, checkPoints },
  ...{ makeTuples, encryptNoiseTuples, decryptTupleFlags },
  ...{ compareTuples, decryptComparisons, findZeros },
};

export const operations = {
  ...batchOperations,
  ...{ drawNoiseRegisters, drawNoiseTuples, encryptCount, addCounts, passCount, decryptCount },
  ...{ countDistinct, groupMembers },
  sort: (_: Workspace, { parts, size, tail }: { parts: Uint8Array[]; size: number; tail?: Uint8Array }) =>
    sortBlocks(parts, size, tail),
};

export type OperationName = keyof typeof operations;
export type BatchOperation = keyof typeof batchOperations;
export type Input<O extends OperationName> = Parameters<(typeof operations)[O]>[1];
export type Output<O extends OperationName> = ReturnType<(typeof operations)[O]>;
