/** Arrays of blocks of the same size, one after the other. */

/** Sorted, blocks say nothing about the order they came in. */
export function sortBlocks(bytes: Uint8Array, size: number): Uint8Array<ArrayBuffer> {
  const blocks = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const order = new Uint32Array(bytes.length / size).map((_, i) => i);
  order.sort((a, b) => blocks.compare(blocks, b * size, (b + 1) * size, a * size, (a + 1) * size));
  return takeBlocks(bytes, size, order);
}

/** The blocks at these places. */
export function takeBlocks(
  bytes: Uint8Array,
  size: number,
  places: ArrayLike<number>,
): Uint8Array<ArrayBuffer> {
  const taken = new Uint8Array(places.length * size);
  for (let i = 0; i < places.length; i++) {
    const from = places[i]! * size;
    taken.set(bytes.subarray(from, from + size), i * size);
  }
  return taken;
}

/** The same part of each block. */
export function takeColumn(
  bytes: Uint8Array,
  stride: number,
  at: number,
  size: number,
): Uint8Array<ArrayBuffer> {
  const column = new Uint8Array((bytes.length / stride) * size);
  for (let i = 0, from = at; i < column.length; i += size, from += stride) {
    column.set(bytes.subarray(from, from + size), i);
  }
  return column;
}

export function putColumn(
  column: Uint8Array,
  size: number,
  into: Uint8Array,
  stride: number,
  at: number,
): void {
  for (let i = 0, to = at; i < column.length; i += size, to += stride)
    into.set(column.subarray(i, i + size), to);
}

/** Where each run of equal keys begins, among sorted blocks that begin with a key of `keySize` bytes; and the end. */
export function runs(sorted: Uint8Array, size: number, keySize: number): number[] {
  const blocks = Buffer.from(sorted.buffer, sorted.byteOffset, sorted.length);
  const starts: number[] = [];
  for (let at = 0; at < sorted.length; at += size) {
    const isNew = at === 0 || blocks.compare(blocks, at - size, at - size + keySize, at, at + keySize) !== 0;
    if (isNew) starts.push(at / size);
  }
  return [...starts, sorted.length / size];
}
