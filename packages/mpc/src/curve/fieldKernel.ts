/**
 * Arithmetic modulo the P-256 prime, p = 2^256 − 2^224 + 2^192 + 2^96 − 1, in WebAssembly. A number is the sum of
 * limb[i] · 2^(29·i) over nine signed limbs, each between about −2^28 and 2^28. The kernel processes four numbers (a
 * "quad") at once, stored as nine vectors with one 32-bit lane per number. Numbers are in Montgomery form (multiplied
 * by 2^261), which makes it cheap to reduce a product modulo p.
 */
import {
  type Code,
  countDown,
  get,
  i32,
  increase,
  set,
  V128,
  vector,
  type WasmFunction,
  wasmModule,
} from './wasmModule.ts';

export const LIMBS = 9;
export const LIMB_BITS = 29;
/** The number of field elements in a quad. */
export const LANES = 4;
export const QUAD_BYTES = LIMBS * 16;

/** The terms of the prime p, except the lowest (−1). Each term is sign · 2^(29 · limb + shift). */
const PRIME_TERMS = [
  { limb: 3, shift: 9, sign: 1 },
  { limb: 6, shift: 18, sign: 1 },
  { limb: 7, shift: 21, sign: -1 },
  { limb: 8, shift: 24, sign: 1 },
];
const LIMB_MASK = 2 ** LIMB_BITS - 1;
const HALF = 2 ** (LIMB_BITS - 1);

/** The parameters `into`, `a`, and `b` are addresses of quad arrays in `memory`. */
export interface FieldKernel {
  memory: WebAssembly.Memory;
  /**
   * Computes into[i] = a[i] · b[i] for `count` quads (at least one). `into` and `a` advance by `step` bytes, and `b`
   * advances by `otherStep` bytes. The arrays are allowed to overlap, because each product is stored before the next
   * quads are loaded.
   */
  multiply(into: number, a: number, b: number, count: number, step: number, otherStep: number): void;
  square(into: number, a: number, count: number): void;
  /** Computes into[i] = times · a[i] + otherTimes · b[i]. Limbs can overflow if |times| + |otherTimes| is above 6. */
  combine(
    into: number,
    a: number,
    b: number,
    count: number,
    times: number,
    otherTimes: number,
    otherStep: number,
  ): void;
}

let compiled: WebAssembly.Module | undefined;

export function fieldKernel(memoryBytes: number): FieldKernel {
  compiled ??= new WebAssembly.Module(wasmModule([multiplication(), squaring(), combination()], 1));
  const kernel = new WebAssembly.Instance(compiled).exports as unknown as FieldKernel;
  kernel.memory.grow(Math.ceil(memoryBytes / 2 ** 16));
  return kernel;
}

function multiplication(): WasmFunction {
  const [into, a, b, count, step, otherStep] = [0, 1, 2, 3, 4, 5];
  const locals = new Locals(6);
  const left = locals.take(LIMBS);
  const right = locals.take(LIMBS);
  const terms = (column: number) => pairs(column).map(([i, j]): [number, number] => [left[i]!, right[j]!]);
  const body = countDown(count, [
    ...load(left, a),
    ...load(right, b),
    ...reducedProduct(locals, into, terms),
    ...increase(into, get(step)),
    ...increase(a, get(step)),
    ...increase(b, get(otherStep)),
  ]);
  return { name: 'multiply', parameters: 6, locals: [[locals.taken, V128]], body };
}

function squaring(): WasmFunction {
  const [into, a, count] = [0, 1, 2];
  const locals = new Locals(3);
  const limbs = locals.take(LIMBS);
  const doubled = locals.take(LIMBS);
  const terms = (column: number) =>
    pairs(column)
      .filter(([i, j]) => i <= j)
      .map(([i, j]): [number, number] => [limbs[i]!, i === j ? limbs[j]! : doubled[j]!]);
  const body = countDown(count, [
    ...load(limbs, a),
    ...doubled.flatMap((local, i) => [...get(limbs[i]!), ...i32(1), ...vector.shiftLeft32, ...set(local)]),
    ...reducedProduct(locals, into, terms),
    ...increase(into, i32(QUAD_BYTES)),
    ...increase(a, i32(QUAD_BYTES)),
  ]);
  return { name: 'square', parameters: 3, locals: [[locals.taken, V128]], body };
}

/**
 * Returns the pairs of limb indexes (i, j) with i + j = column. This column of a product is the sum of limb i times
 * limb j over these pairs.
 */
function pairs(column: number): [number, number][] {
  const all: [number, number][] = [];
  for (let i = Math.max(0, column - LIMBS + 1); i <= Math.min(column, LIMBS - 1); i++)
    all.push([i, column - i]);
  return all;
}

/**
 * Generates code that computes a product modulo the prime p, divided by 2^261, column by column, and stores it. Adding
 * multiples of p clears the low nine columns, and the other columns become the limbs. For each column, `terms` returns
 * the pairs of local variables to multiply.
 */
function reducedProduct(locals: Locals, into: number, terms: (column: number) => [number, number][]): Code {
  const factors = locals.take(LIMBS);
  const [low, high] = locals.take(2) as [number, number];
  const code: Code[] = [];
  const constant = (value: Code): Code => {
    const [local] = locals.take(1) as [number];
    code.push(value, set(local));
    return get(local);
  };
  // Keep the constants in local variables. The compiler would otherwise create a constant again at every use.
  const powers = PRIME_TERMS.map(({ shift, sign }) => constant(vector.ofFour(sign * 2 ** shift)));
  const mask = constant(vector.ofFour(LIMB_MASK));
  const half = constant(vector.ofFour(HALF));
  const halfOfSum = constant(vector.ofTwo(BigInt(HALF)));
  code.push(vector.ofTwo(0n), set(low), vector.ofTwo(0n), set(high));
  const addToBoth = (lowCode: Code, highCode: Code) =>
    code.push(
      [...get(low), ...lowCode, ...vector.add64, ...set(low)],
      [...get(high), ...highCode, ...vector.add64, ...set(high)],
    );
  const addProduct = (both: Code) =>
    addToBoth([...both, ...vector.multiplyLow], [...both, ...vector.multiplyHigh]);
  for (let column = 0; column < 2 * LIMBS - 1; column++) {
    for (const [one, other] of terms(column)) addProduct([...get(one), ...get(other)]);
    PRIME_TERMS.forEach(({ limb }, i) => {
      const factor = factors[column - limb];
      if (factor !== undefined) addProduct([...get(factor), ...powers[i]!]);
    });
    // Add half of 2^29, so that the limb is rounded to a value within ±2^28.
    if (column >= LIMBS) addToBoth(halfOfSum, halfOfSum);
    const limb = [...get(low), ...get(high), ...vector.lowHalves, ...mask, ...vector.and];
    if (column < LIMBS) code.push(limb, set(factors[column]!));
    else code.push(get(into), limb, half, vector.subtract32, vector.store(16 * (column - LIMBS)));
    for (const sum of [low, high]) code.push(get(sum), i32(LIMB_BITS), vector.shiftRight64, set(sum));
  }
  code.push(get(into), get(low), get(high), vector.lowHalves, vector.store(16 * (LIMBS - 1)));
  return code.flat();
}

function combination(): WasmFunction {
  const [into, a, b, count, times, otherTimes, otherStep] = [0, 1, 2, 3, 4, 5, 6];
  const locals = new Locals(7);
  const [factor, otherFactor] = locals.take(2) as [number, number];
  const sums = locals.take(LIMBS);
  const carries = locals.take(LIMBS);
  const top = LIMBS - 1;
  const topBits = 256 - LIMB_BITS * top;
  const change = (local: number, op: Code, by: Code): Code => [...get(local), ...by, ...op, ...set(local)];
  const shifted = (local: number, bits: number): Code => [...get(local), ...i32(bits), ...vector.shiftLeft32];
  /**
   * Generates code that divides limb i by 2^bits. The rounded quotient becomes carry i, and the limb keeps the
   * remainder.
   */
  const takeCarry = (i: number, bits: number): Code => [
    ...[...get(sums[i]!), ...vector.ofFour(2 ** (bits - 1)), ...vector.add32],
    ...[...i32(bits), ...vector.shiftRight32, ...set(carries[i]!)],
    ...change(sums[i]!, vector.subtract32, shifted(carries[i]!, bits)),
  ];
  const lower = sums.slice(0, top);
  const body = [
    ...[...get(times), ...vector.splat32, ...set(factor)],
    ...[...get(otherTimes), ...vector.splat32, ...set(otherFactor)],
    ...countDown(count, [
      ...sums.flatMap((local, i) => [
        ...[...get(a), ...vector.load(16 * i), ...get(factor), ...vector.multiply32],
        ...[...get(b), ...vector.load(16 * i), ...get(otherFactor), ...vector.multiply32],
        ...[...vector.add32, ...set(local)],
      ]),
      // One pass of carries is enough, because a carry adds very little to the next limb.
      ...lower.flatMap((_, i) => takeCarry(i, LIMB_BITS)),
      ...lower.flatMap((_, i) => change(sums[i + 1]!, vector.add32, get(carries[i]!))),
      // Move multiples of 2^256 from the top limb to the lower limbs. Modulo the prime, 2^256 is 2^224 − 2^192 − 2^96 +
      // 1.
      ...takeCarry(top, topBits),
      ...change(sums[0]!, vector.add32, get(carries[top]!)),
      ...PRIME_TERMS.filter(({ limb }) => limb < top).flatMap(({ limb, shift, sign }) =>
        change(sums[limb]!, sign > 0 ? vector.subtract32 : vector.add32, shifted(carries[top]!, shift)),
      ),
      ...sums.flatMap((local, i) => [...get(into), ...get(local), ...vector.store(16 * i)]),
      ...increase(into, i32(QUAD_BYTES)),
      ...increase(a, i32(QUAD_BYTES)),
      ...increase(b, get(otherStep)),
    ]),
  ];
  return { name: 'combine', parameters: 7, locals: [[locals.taken, V128]], body };
}

function load(limbs: readonly number[], address: number): Code {
  return limbs.flatMap((local, i) => [...get(address), ...vector.load(16 * i), ...set(local)]);
}

class Locals {
  taken = 0;
  private readonly parameters: number;

  constructor(parameters: number) {
    this.parameters = parameters;
  }

  take(count: number): number[] {
    const from = this.parameters + this.taken;
    this.taken += count;
    return Array.from({ length: count }, (_, i) => from + i);
  }
}
