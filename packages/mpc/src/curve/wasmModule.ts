/** Generates WebAssembly modules at run time, so that nothing has to be compiled when the package is installed. */

export type Code = readonly number[];

export const I32 = 0x7f;
export const V128 = 0x7b;

/** A function that takes 32-bit integers and returns nothing. */
export interface WasmFunction {
  name: string;
  parameters: number;
  /** The number of local variables of each type. The indexes of local variables start after the parameters. */
  locals: [count: number, type: number][];
  body: Code;
}

export function wasmModule(functions: readonly WasmFunction[], memoryPages: number): Uint8Array<ArrayBuffer> {
  const types = functions.map((f) => [0x60, ...list(Array(f.parameters).fill([I32])), 0]);
  const exported = functions.map((f, i) => [...text(f.name), 0, ...unsigned(i)]);
  const code = functions.map((f) => {
    const locals = f.locals.map(([count, type]) => [...unsigned(count), type]);
    return sized([...list(locals), ...f.body, END]);
  });
  return Uint8Array.from([
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, list(types)),
    ...section(3, list(functions.map((_, i) => unsigned(i)))),
    ...section(5, list([[0, ...unsigned(memoryPages)]])),
    ...section(7, list([[...text('memory'), 2, 0], ...exported])),
    ...section(10, list(code)),
  ]);
}

const END = 0x0b;

export const get = (local: number): Code => [0x20, ...unsigned(local)];
export const set = (local: number): Code => [0x21, ...unsigned(local)];
export const i32 = (value: number): Code => [0x41, ...signed(value)];
export const increase = (local: number, by: Code): Code => [...get(local), ...by, 0x6a, ...set(local)];
/**
 * Generates a loop that runs the code and then decrements the local, until the local is 0. The code runs at least once.
 */
export const countDown = (local: number, code: Code): Code => [
  ...[0x03, 0x40],
  ...code,
  ...increase(local, i32(-1)),
  ...get(local),
  ...[0x0d, 0],
  END,
];

/** Instructions on 128-bit vectors of four 32-bit or two 64-bit integers. */
export const vector = {
  load: (offset: number): Code => [...simd(0), 4, ...unsigned(offset)],
  store: (offset: number): Code => [...simd(11), 4, ...unsigned(offset)],
  ofFour: (value: number): Code => [...simd(12), ...littleEndian(new Int32Array(4).fill(value))],
  ofTwo: (value: bigint): Code => [...simd(12), ...littleEndian(new BigInt64Array(2).fill(value))],
  /** Takes a 32-bit integer, and returns a vector of four copies of it. */
  splat32: simd(17),
  and: simd(78),
  shiftLeft32: simd(171),
  shiftRight32: simd(172),
  add32: simd(174),
  subtract32: simd(177),
  multiply32: simd(181),
  shiftRight64: simd(204),
  add64: simd(206),
  /** Multiplies the 32-bit integers 0 and 1 of two vectors, and returns two 64-bit products. */
  multiplyLow: simd(220),
  /** Multiplies the 32-bit integers 2 and 3 of two vectors, and returns two 64-bit products. */
  multiplyHigh: simd(221),
  /** Takes two vectors of two 64-bit integers, and returns one vector with the low 32 bits of all four integers. */
  lowHalves: [...simd(13), 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27] as Code,
};

function simd(operation: number): Code {
  return [0xfd, ...unsigned(operation)];
}

function littleEndian(values: Int32Array | BigInt64Array): Code {
  const view = new DataView(new ArrayBuffer(16));
  values.forEach((value, i) => {
    if (typeof value === 'bigint') view.setBigInt64(8 * i, value, true);
    else view.setInt32(4 * i, value, true);
  });
  return [...new Uint8Array(view.buffer)];
}

function section(id: number, content: Code): Code {
  return [id, ...sized(content)];
}

function sized(content: Code): Code {
  return [...unsigned(content.length), ...content];
}

function list(items: readonly Code[]): Code {
  return [...unsigned(items.length), ...items.flat()];
}

function text(value: string): Code {
  return sized([...new TextEncoder().encode(value)]);
}

/** Encodes an unsigned integer as LEB128, the variable-length format of WebAssembly. */
function unsigned(value: number): Code {
  const low = value & 0x7f;
  return value < 0x80 ? [low] : [low | 0x80, ...unsigned(value >>> 7)];
}

function signed(value: number): Code {
  const low = value & 0x7f;
  return value >= -0x40 && value < 0x40 ? [low] : [low | 0x80, ...signed(value >> 7)];
}
