/** Honest Majority Share Shuffle: what workers and aggregator compute, without any server. */
export { countValues, ShareShuffleError } from './aggregate.ts';
export { estimate, type ShareShuffleEstimate } from './estimate.ts';
export {
  type ShareShuffleParameters,
  type ShareShuffleSpec,
  shareShuffleParameters,
  shuffledCount,
} from './parameters.ts';
export { type Share, type ShuffleInput, shuffleStage } from './shuffleStage.ts';
export { shuffleInThread } from './shuffleThread.ts';
