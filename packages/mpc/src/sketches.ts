/** Entry point for Liquid Legions sketches. Data providers and duchies use it, on Node. */

export * from './elGamal.ts';
export { estimatePeople, expectedRegisters } from './privacy/liquidLegions.ts';
export { drawMpcNoise, type MpcNoise, mpcNoise } from './privacy/mpcNoise.ts';
export { Keystream } from './shares/keystream.ts';
export { FREQUENCY_REGISTER_BYTES, REACH_REGISTER_BYTES, SketchEncrypter } from './sketches/encryptSketch.ts';
export { countPoints, DESTROYED_KEY, NOBODY_INDEX } from './sketches/points.ts';
export {
  DESTROYED,
  type FrequencySketchParams,
  type LiquidLegionsParams,
  RegisterIndexes,
} from './sketches/sketch.ts';
