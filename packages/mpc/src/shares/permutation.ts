/**
 * Shuffles registers, so that the aggregator cannot tell which person a register belongs to. Both workers use the same
 * seed.
 */
import { Keystream } from './keystream.ts';
import { drawPlaces, MAX_PLACES, PLACE_BYTES } from './places.ts';

/**
 * Shuffles n values with the Fisher–Yates method. Each step swaps value i with the value at i + (r mod (n − i)), where
 * r is random.
 */
export function shuffle(values: Uint8Array, seed: Uint8Array): void {
  const keystream = new Keystream(seed);
  for (let from = 0; from < values.length - 1; from += MAX_PLACES) {
    const count = Math.min(MAX_PLACES, values.length - 1 - from);
    const places = drawPlaces(keystream.bytes(count * PLACE_BYTES), from, values.length);
    swapAll(values, from, places, count);
  }
}

/**
 * Swaps value `from` + i with the value at places[i]. All places are drawn before the swaps, so that the processor can
 * fetch many values at once. The loop does four swaps per iteration, so that the function is too long for the engine to
 * inline. Inlined code would be slower.
 */
export function swapAll(values: Uint8Array, from: number, places: Uint32Array, count: number): void {
  let i = 0;
  for (; i + 3 < count; i += 4) {
    const at = from + i;
    const place0 = places[i]!;
    const value0 = values[at]!;
    values[at] = values[place0]!;
    values[place0] = value0;
    const place1 = places[i + 1]!;
    const value1 = values[at + 1]!;
    values[at + 1] = values[place1]!;
    values[place1] = value1;
    const place2 = places[i + 2]!;
    const value2 = values[at + 2]!;
    values[at + 2] = values[place2]!;
    values[place2] = value2;
    const place3 = places[i + 3]!;
    const value3 = values[at + 3]!;
    values[at + 3] = values[place3]!;
    values[place3] = value3;
  }
  for (; i < count; i++) {
    const place = places[i]!;
    const value = values[from + i]!;
    values[from + i] = values[place]!;
    values[place] = value;
  }
}
