/** The shuffle that both workers do with one seed, so that the aggregator cannot tell whose register is whose. */
import { Keystream } from '@measurement-exchange/sdk/shareShuffle';

/** Each place takes a little-endian uint128 of the keystream. */
const BYTES_EACH = 16;
const BATCH = 1 << 12;

export { MAX_SHUFFLED } from '@measurement-exchange/contract';

/** Fisher and Yates: the i-th value is swapped with that at i + random mod (count − i). */
export function shuffle(values: Uint8Array, seed: Uint8Array): void {
  const keystream = new Keystream(seed);
  const places = new Uint32Array(Math.min(BATCH, values.length));
  for (let from = 0; from < values.length - 1; from += BATCH) {
    const count = Math.min(BATCH, values.length - 1 - from);
    const random = keystream.bytes(count * BYTES_EACH);
    drawPlaces(new Uint32Array(random.buffer, random.byteOffset, count * 4), from, values.length, places);
    swapAll(values, from, places, count);
  }
}

/**
 * places[i] = from + i + words mod (total − from − i), where four words are one uint128. It is divided 52 bits first, then
 * 25, 25 and 26 more: with a remainder below MAX_SHUFFLED they fit in the 53 of a Number. A quotient may be off by one, so a
 * remainder may be a little below 0 or above the divisor; that is mended once, at the end.
 */
export function drawPlaces(words: Uint32Array, from: number, total: number, places: Uint32Array): void {
  const count = words.length >>> 2;
  for (let i = 0; i < count; i++) {
    const divisor = total - from - i;
    const inverse = 1 / divisor;
    const word0 = words[4 * i]!;
    const word1 = words[4 * i + 1]!;
    const word2 = words[4 * i + 2]!;
    let rest = words[4 * i + 3]! * 0x100000 + (word2 >>> 12);
    rest -= Math.floor(rest * inverse) * divisor;
    rest = rest * 0x2000000 + ((word1 >>> 19) | ((word2 & 0xfff) << 13));
    rest -= Math.floor(rest * inverse) * divisor;
    rest = rest * 0x2000000 + ((word0 >>> 26) | ((word1 & 0x7ffff) << 6));
    rest -= Math.floor(rest * inverse) * divisor;
    rest = rest * 0x4000000 + (word0 & 0x3ffffff);
    rest -= Math.floor(rest * inverse) * divisor;
    let remainder = rest | 0;
    remainder += (remainder >> 31) & divisor;
    remainder -= ~((remainder - divisor) >> 31) & divisor;
    places[i] = from + i + remainder;
  }
}

/**
 * In a loop of its own, so that the processor fetches many places at once. Four in a row make the function too long to be
 * inlined where it is called, which is in code that is compiled with less care.
 */
function swapAll(values: Uint8Array, from: number, places: Uint32Array, count: number): void {
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
