/** FarmHash Fingerprint64 of the texts that sketches hash: `AnySketchFingerprint:<VID>:<name>`, 17 to 64 bytes. */
const K1 = 0xb492b66fbe98f273n;
const K2 = 0x9ae16a3b2f90404fn;

const PREFIX = 'AnySketchFingerprint:';
const MAX_BYTES = 64;

/** The fingerprints of VIDs for one purpose. */
export class Fingerprints {
  private readonly view = new DataView(new ArrayBuffer(MAX_BYTES));
  private readonly suffix: string;

  constructor(name: 'Index' | 'SamplingIndicator') {
    this.suffix = `:${name}`;
    this.write(PREFIX, 0);
  }

  /** An unsigned 64-bit number. */
  of(vid: number | bigint): bigint {
    const text = `${vid}${this.suffix}`;
    this.write(text, PREFIX.length);
    return fingerprint64(this.view, PREFIX.length + text.length);
  }

  private write(text: string, at: number): void {
    for (let i = 0; i < text.length; i++) this.view.setUint8(at + i, text.charCodeAt(i));
  }
}

/** Of the first `length` bytes, from 17 to 64 of them. */
export function fingerprint64(bytes: DataView, length: number): bigint {
  if (!(length >= 17 && length <= MAX_BYTES)) throw new RangeError(`length must be 17 to ${MAX_BYTES}`);
  const word = (at: number) => bytes.getBigUint64(at, true);
  const mul = K2 + BigInt(2 * length);
  const a = u64(word(0) * (length <= 32 ? K1 : K2));
  const b = word(8);
  const c = u64(word(length - 8) * mul);
  const d = u64(word(length - 16) * K2);
  const y = u64(rotateRight(u64(a + b), 43n) + rotateRight(c, 30n) + d);
  const z = mixed(y, u64(a + rotateRight(u64(b + K2), 18n) + c), mul);
  if (length <= 32) return z;
  const e = u64(word(16) * mul);
  const f = word(24);
  const g = u64((y + word(length - 32)) * mul);
  const h = u64((z + word(length - 24)) * mul);
  const last = u64(e + rotateRight(u64(f + a), 18n) + g);
  return mixed(u64(rotateRight(u64(e + f), 43n) + rotateRight(g, 30n) + h), last, mul);
}

function mixed(u: bigint, v: bigint, mul: bigint): bigint {
  const a = u64((u ^ v) * mul);
  const b = u64((v ^ a ^ (a >> 47n)) * mul);
  return u64((b ^ (b >> 47n)) * mul);
}

function u64(value: bigint): bigint {
  return BigInt.asUintN(64, value);
}

function rotateRight(word: bigint, by: bigint): bigint {
  return u64((word >> by) | (word << (64n - by)));
}
