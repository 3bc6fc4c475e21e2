/**
 * Encodes and decodes frequency vectors as protobuf, without message objects. The message `FrequencyVector` has only
 * field 1, a packed list of one-byte values. The message `AggregationPhaseInput` has the same field, followed by a
 * number in field 2.
 */
import { areBelow, checkModulus } from './ring.ts';

const PACKED_VALUES = 0x0a;
const REGISTER_COUNT = 0x10;
const MAX_VARINT_BYTES = 5;

/** Returns the bytes that come before `count` values in an encoded message. */
export function valuesPrefix(count: number): Uint8Array<ArrayBuffer> {
  return numberField(PACKED_VALUES, count);
}

/** Returns the bytes that follow the values in an AggregationPhaseInput. */
export function registerCountSuffix(count: number): Uint8Array<ArrayBuffer> {
  return numberField(REGISTER_COUNT, count);
}

/** Encodes a number field. As in protobuf, a field whose value is 0 is omitted. */
function numberField(tag: number, value: number): Uint8Array<ArrayBuffer> {
  if (value === 0) return new Uint8Array(0);
  const bytes = [tag];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) | 0x80);
  return Uint8Array.of(...bytes, rest);
}

/**
 * Reads the values of a `FrequencyVector` or `AggregationPhaseInput` message from chunks of any size. Throws a
 * RangeError if the encoding is not canonical.
 */
export class ValuesReader {
  private readonly modulus: number;
  private readonly most: number;
  private field: NumberField | undefined = new NumberField(PACKED_VALUES);
  private missing = 0;
  private count = 0;
  private registerCount = 0;

  /** Accepts at most `most` values, which must all be below the modulus. */
  constructor(modulus: number, most: number) {
    checkModulus(modulus);
    this.modulus = modulus;
    this.most = most;
  }

  /** Returns the values in the next chunk, without copying them. */
  push(chunk: Uint8Array): Uint8Array {
    let at = 0;
    while (at < chunk.length && this.missing === 0) this.readField(chunk[at++]!);
    const values = chunk.subarray(at, at + this.missing);
    if (!areBelow(this.modulus, values)) throw new RangeError('data must hold values below ringModulus');
    this.missing -= values.length;
    for (at += values.length; at < chunk.length; at++) this.readField(chunk[at]!);
    return values;
  }

  /** Returns the numbers of values and registers that the message states. Call this after the last chunk. */
  end(): { count: number; registerCount: number } {
    if (this.missing > 0 || this.field?.isBegun) throw new RangeError('data must not end within a field');
    return { count: this.count, registerCount: this.registerCount };
  }

  private readField(byte: number): void {
    if (this.field === undefined) throw new RangeError('data must end after its last field');
    if (this.field.tag === PACKED_VALUES && !this.field.isBegun && byte === REGISTER_COUNT) {
      this.field = new NumberField(REGISTER_COUNT);
    }
    const value = this.field.push(byte);
    if (value === undefined) return;
    if (this.field.tag === PACKED_VALUES) {
      if (value > this.most) throw new RangeError(`data must hold at most ${this.most} values`);
      this.count = value;
      this.missing = value;
      this.field = new NumberField(REGISTER_COUNT);
    } else {
      this.registerCount = value;
      this.field = undefined;
    }
  }
}

/**
 * Calls `use` with each chunk's values and the index of the chunk's first value. Returns the result of
 * `ValuesReader.end`.
 */
export async function readValues(
  modulus: number,
  most: number,
  chunks: AsyncIterable<Uint8Array>,
  use: (at: number, values: Uint8Array) => void,
) {
  const reader = new ValuesReader(modulus, most);
  let at = 0;
  for await (const chunk of chunks) {
    const values = reader.push(chunk);
    use(at, values);
    at += values.length;
  }
  return reader.end();
}

/** Reads one protobuf field: a tag, followed by a number above 0 as a varint. */
class NumberField {
  readonly tag: number;
  private bytes = 0;
  private value = 0;

  constructor(tag: number) {
    this.tag = tag;
  }

  get isBegun(): boolean {
    return this.bytes > 0;
  }

  /** Reads the next byte of the field. Returns the field's number if this byte is the last one, else undefined. */
  push(byte: number): number | undefined {
    if (this.bytes === 0 && byte !== this.tag) {
      throw new RangeError(`data must have the field ${this.tag >>> 3} here`);
    }
    if (this.bytes > 0) this.value += (byte & 0x7f) * 0x80 ** (this.bytes - 1);
    this.bytes++;
    if (this.bytes === 1 || byte >= 0x80) {
      if (this.bytes > MAX_VARINT_BYTES) throw new RangeError('data must have shorter numbers');
      return undefined;
    }
    if (byte === 0) throw new RangeError('data must have numbers above 0, without needless bytes');
    return this.value;
  }
}
