/** For providers that make their shares themselves: the mathematics of Honest Majority Share Shuffle. */
export {
  FrequencyVector,
  uploadChunks,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/provider';
export * from '@measurement-exchange/mpc/shares';
export { openVidIndex } from './vidIndex.ts';
