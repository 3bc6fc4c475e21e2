/**
 * Draws the positions ("places") that a shuffle swaps. For i = 0, 1, 2 …, place i equals
 * `from` + i + (r mod (`total` − `from` − i)), where r is a random little-endian uint128. `from` and `total` are
 * parameters of `drawPlaces`. The loop is hand-assembled WebAssembly, because native 64-bit integers make it twice as
 * fast as JavaScript.
 */
import { type Code, countDown, get, I32, i32, increase, set, wasmModule } from '../curve/wasmModule.ts';

export const MAX_PLACES = 1 << 12;
/** The number of random bytes per place: one uint128. */
export const PLACE_BYTES = 16;

const I64 = 0x7e;
const F64 = 0x7c;
// The indexes of the parameters of `draw`, followed by the indexes of its local variables.
const [WORDS, PLACES, COUNT, DIVISOR, FROM, REST, NUMBER, INVERSE] = [0, 1, 2, 3, 4, 5, 6, 7] as const;

const i32Load = (address: Code, offset: number): Code => [...address, 0x28, 2, offset];
const i64Load = (address: Code, offset: number): Code => [...address, 0x29, 3, offset];
const i64Load32 = (address: Code, offset: number): Code => [...address, 0x35, 2, offset];
const i32Store = (address: Code, value: Code): Code => [...address, ...value, 0x36, 2, 0];
const binary = (opcode: number) => (left: Code, right: Code) => [...left, ...right, opcode];
const i32Add = binary(0x6a);
const i32Sub = binary(0x6b);
const i32Mul = binary(0x6c);
const i32LessThan = binary(0x48);
const i64Or = binary(0x84);
const f64Mul = binary(0xa2);
const f64Div = binary(0xa3);
const ONE: Code = [0x44, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f];
const i32AsF64 = (value: Code): Code => [...value, 0xb8];
const i64AsF64 = (value: Code): Code => [...value, 0xb9];
const u64AsF64 = (value: Code): Code => [...value, 0xba];
/** Returns code that drops the fraction of a 64-bit float and keeps the low 32 bits of the integer. */
const truncated = (value: Code): Code => [...value, 0xfc, 0x06, 0xa7];
/** Returns code that multiplies a 32-bit integer by 2^32. */
const upperWord = (value: Code): Code => [...value, 0xac, 0x42, 32, 0x86];
const select = (yes: Code, no: Code, condition: Code): Code => [...yes, ...no, ...condition, 0x1b];
/**
 * Returns code for rest = number − quotient · divisor. The quotient is estimated from the divisor's inverse. The code
 * computes only the low 32 bits of the rest, because the rest fits into them. After the first 64 bits, the magnitude of
 * the rest is below divisor + 2^13, because a double rounds large quotients. After each of the next two 32-bit words,
 * the rest differs from number mod divisor by at most one divisor.
 */
const reduce = (offset: number, numberAsF64: Code): Code => {
  const quotient = truncated(f64Mul(numberAsF64, get(INVERSE)));
  return [...i32Sub(i32Load(get(WORDS), offset), i32Mul(quotient, get(DIVISOR))), ...set(REST)];
};

/** Returns code that sets number = rest · 2^32 + the next 32 random bits. */
const append = (offset: number): Code => [
  ...i64Or(upperWord(get(REST)), i64Load32(get(WORDS), offset)),
  ...set(NUMBER),
];

const BODY: Code = countDown(COUNT, [
  ...f64Div(ONE, i32AsF64(get(DIVISOR))),
  ...set(INVERSE),
  ...reduce(8, u64AsF64(i64Load(get(WORDS), 8))),
  ...append(4),
  ...reduce(4, i64AsF64(get(NUMBER))),
  ...append(0),
  ...reduce(0, i64AsF64(get(NUMBER))),
  ...select(i32Add(get(REST), get(DIVISOR)), get(REST), i32LessThan(get(REST), i32(0))),
  ...set(REST),
  ...select(get(REST), i32Sub(get(REST), get(DIVISOR)), i32LessThan(get(REST), get(DIVISOR))),
  ...set(REST),
  ...i32Store(get(PLACES), i32Add(get(FROM), get(REST))),
  ...increase(WORDS, i32(PLACE_BYTES)),
  ...increase(PLACES, i32(4)),
  ...increase(FROM, i32(1)),
  ...increase(DIVISOR, i32(-1)),
]);

const LOCALS: [count: number, type: number][] = [
  [1, I32],
  [1, I64],
  [1, F64],
];
// The memory has two 64 KiB pages, one for the random bytes and one for the places.
const MODULE = wasmModule([{ name: 'draw', parameters: 5, locals: LOCALS, body: BODY }], 2);

interface Exports {
  memory: WebAssembly.Memory;
  draw(words: number, places: number, count: number, divisor: number, from: number): void;
}

const { memory, draw } = new WebAssembly.Instance(new WebAssembly.Module(MODULE))
  .exports as unknown as Exports;
const PLACES_AT = MAX_PLACES * PLACE_BYTES;
const words = new Uint8Array(memory.buffer, 0, PLACES_AT);
const places = new Uint32Array(memory.buffer, PLACES_AT, MAX_PLACES);

/**
 * Draws one place per 16 random bytes, starting with the place for index `from`. The next call overwrites the result.
 */
export function drawPlaces(random: Uint8Array, from: number, total: number): Uint32Array {
  const count = random.length / PLACE_BYTES;
  if (count === 0) return places.subarray(0, 0);
  words.set(random);
  draw(0, PLACES_AT, count, total - from, from);
  return places.subarray(0, count);
}
