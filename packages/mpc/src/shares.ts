/**
 * Entry point for Honest Majority Share Shuffle, for data providers and duchies on Node. A provider counts how often it
 * reached each person in a sample, and splits the counts into two shares. Each share alone looks random.
 */
export {
  registerOf,
  type SampledRegisters,
  sampledRegisters,
} from '@measurement-exchange/contract/shareShuffle';
export { drawAggregatorNoise, drawMpcNoise, type MpcNoise, mpcNoise } from './privacy/mpcNoise.ts';
export { registerCountSuffix, ValuesReader, valuesPrefix } from './shares/framing.ts';
export {
  combineSeeds,
  Keystream,
  NonZeroValues,
  newSeed,
  type RingValues,
  SEED_BYTES,
  UniformValues,
} from './shares/keystream.ts';
export {
  addWords,
  isPrime,
  MAX_MODULUS,
  productTable,
  subtractWords,
  wordAligned,
  wordsOf,
} from './shares/ring.ts';
export { populationFingerprint, VidIndex } from './shares/vidIndex.ts';
export { orderVids } from './shares/vidOrder.ts';
