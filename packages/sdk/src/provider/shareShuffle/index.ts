/**
 * Honest Majority Share Shuffle, on Node: what data providers and duchies both need. A provider counts how often it reached
 * each person of a sample and splits the counts into two shares, each of which alone is random.
 */
export {
  registerOf,
  type SampledRegisters,
  sampledRegisters,
} from '@measurement-exchange/contract/shareShuffle';
export { drawAggregatorNoise, drawMpcNoise, type MpcNoise, mpcNoise } from '../../privacy/mpcNoise.ts';
export { registerCountSuffix, ValuesReader, valuesPrefix } from './framing.ts';
export { FrequencyVector, uploadChunks } from './frequencyVector.ts';
export {
  combineSeeds,
  Keystream,
  NonZeroValues,
  newSeed,
  type RingValues,
  SEED_BYTES,
  UniformValues,
} from './keystream.ts';
export {
  addWords,
  isPrime,
  MAX_MODULUS,
  productTable,
  subtractWords,
  wordAligned,
  wordsOf,
} from './ring.ts';
export { openVidIndex, populationFingerprint, VidIndex } from './vidIndex.ts';
export { orderVids } from './vidOrder.ts';
