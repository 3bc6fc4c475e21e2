/** Honest Majority Share Shuffle: what workers and aggregator compute, without any server. */
export { countValues, ShareShuffleError } from './shareShuffle/aggregate.ts';
export { estimate, type ShareShuffleEstimate } from './shareShuffle/estimate.ts';
export {
  type ShareShuffleParameters,
  type ShareShuffleSpec,
  shareShuffleParameters,
  shuffledCount,
} from './shareShuffle/parameters.ts';
export { type Share, type ShuffleInput, shuffleStage } from './shareShuffle/shuffleStage.ts';
