/** Honest Majority Share Shuffle math, for providers that make shares without this SDK's agent. */
export {
  FrequencyVector,
  uploadChunks,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/provider';
export * from '@measurement-exchange/mpc/shares';
export { openVidIndex } from './vidIndex.ts';
