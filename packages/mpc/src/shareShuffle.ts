/** Honest Majority Share Shuffle: the computations of workers and aggregator, without any server. */
export { countValues, ShareShuffleError } from './protocols/honestMajorityShareShuffle/aggregate.ts';
export { type Share, type ShuffleInput, shuffleStage } from './protocols/honestMajorityShareShuffle/duchy.ts';
export { estimate, type ShareShuffleEstimate } from './protocols/honestMajorityShareShuffle/estimate.ts';
export {
  type ShareShuffleParameters,
  type ShareShuffleSpec,
  shareShuffleParameters,
  shuffledCount,
} from './protocols/honestMajorityShareShuffle/limits.ts';
