/** Liquid Legions sketches, on Node: what data providers and duchies both need. */
export { estimatePeople, expectedRegisters } from '../../privacy/liquidLegions.ts';
export { drawMpcNoise, type MpcNoise, mpcNoise } from '../../privacy/mpcNoise.ts';
export * from '../elGamal/index.ts';
export { Keystream } from '../shareShuffle/keystream.ts';
export { FREQUENCY_REGISTER_BYTES, REACH_REGISTER_BYTES, SketchEncrypter } from './encryptSketch.ts';
export { countPoints, DESTROYED_KEY, NOBODY_INDEX } from './points.ts';
export {
  DESTROYED,
  FrequencySketch,
  type FrequencySketchParams,
  type LiquidLegionsParams,
  ReachSketch,
  RegisterIndexes,
} from './sketch.ts';
