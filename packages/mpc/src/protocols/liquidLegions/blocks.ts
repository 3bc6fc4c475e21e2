/** Operations on byte arrays that consist of blocks of equal size. */

/** Bytes with a buffer of their own, which can be transferred to another thread. */
export type Bytes = Uint8Array<ArrayBuffer>;

/** Concatenates the parts and sorts their blocks, so that the original order is lost. Appends `tail` unchanged. */
export function sortBlocks(parts: readonly Uint8Array[], size: number, tail?: Uint8Array): Bytes {
  const blocks = Buffer.concat(parts);
  const sorted = takeBlocks(blocks, size, sortedOrder(blocks, size), tail?.length);
  if (tail !== undefined) sorted.set(tail, blocks.length);
  return sorted;
}

/**
 * Returns the indexes of blocks in the order of their bytes. For speed, first sorts 64-bit numbers: the high half is
 * the first four bytes of a block, and the low half is the block's index. Then compares the full blocks only where the
 * first four bytes are equal.
 */
export function sortedOrder(blocks: Buffer, size: number): Uint32Array<ArrayBuffer> {
  const count = blocks.length / size;
  const words = new Uint32Array(2 * count);
  for (let i = 0; i < count; i++) {
    words[2 * i + LOW] = i;
    words[2 * i + HIGH] = size < 4 ? 0 : blocks.readUInt32BE(i * size);
  }
  new BigUint64Array(words.buffer).sort();
  const order = Uint32Array.from({ length: count }, (_, i) => words[2 * i + LOW]!);
  const compare = (a: number, b: number) =>
    blocks.compare(blocks, b * size, (b + 1) * size, a * size, (a + 1) * size);
  for (let from = 0; from < count; ) {
    let to = from + 1;
    while (to < count && words[2 * to + HIGH] === words[2 * from + HIGH]) to++;
    if (to - from > 1) order.subarray(from, to).sort(compare);
    from = to;
  }
  return order;
}

/** The positions of the low and high 32-bit words in a 64-bit number, which depend on the machine's byte order. */
const LOW = new Uint8Array(Uint16Array.of(1).buffer)[0] === 1 ? 0 : 1;
const HIGH = 1 - LOW;

/** Returns copies of the blocks at these indexes, followed by `room` zero bytes. */
export function takeBlocks(bytes: Uint8Array, size: number, places: ArrayLike<number>, room = 0): Bytes {
  const taken = new Uint8Array(places.length * size + room);
  for (let i = 0; i < places.length; i++) {
    const from = places[i]! * size;
    taken.set(bytes.subarray(from, from + size), i * size);
  }
  return taken;
}

export function putBlocks(from: Uint8Array, size: number, places: ArrayLike<number>, into: Uint8Array): void {
  for (let i = 0; i < places.length; i++) {
    into.set(from.subarray(i * size, (i + 1) * size), places[i]! * size);
  }
}

/** Returns the same byte range of every block, concatenated. */
export function takeColumn(bytes: Uint8Array, stride: number, at: number, size: number): Bytes {
  const column = new Uint8Array((bytes.length / stride) * size);
  for (let i = 0, from = at; i < column.length; i += size, from += stride) {
    column.set(bytes.subarray(from, from + size), i);
  }
  return column;
}

export function putColumn(column: Uint8Array, size: number, into: Uint8Array, stride: number, at: number) {
  for (let i = 0, to = at; i < column.length; i += size, to += stride)
    into.set(column.subarray(i, i + size), to);
}

/**
 * Finds the runs of blocks with equal keys, in blocks that are sorted by `order`. Returns the index in `order` at which
 * each run starts, and then the length of `order`, where the last run ends. A key is the first `keySize` bytes of a
 * block.
 */
export function runs(blocks: Buffer, size: number, keySize: number, order: Uint32Array): number[] {
  const starts: number[] = [];
  for (let i = 0; i < order.length; i++) {
    const [before, at] = [order[i - 1]! * size, order[i]! * size];
    if (i === 0 || blocks.compare(blocks, before, before + keySize, at, at + keySize) !== 0) starts.push(i);
  }
  return [...starts, order.length];
}

export function copyOf(bytes: Uint8Array, from = 0, to = bytes.length): Bytes {
  return new Uint8Array(bytes.subarray(from, to));
}
