/** Searches bytes for a secret in plaintext, in every encoding that a program might use. */

/**
 * A secret that no party is allowed to learn: one number for each person in the population, such as how often a
 * provider reached the person.
 */
export interface Secret {
  name: string;
  /** The numbers, in the order of the registers. */
  vector: Uint8Array;
  /** The VID of the person of each register. */
  vids: number[];
}

/**
 * The lengths of the pieces that the search looks for. A piece has the numbers of consecutive registers, or the VIDs of
 * people who were reached. Longer pieces are not needed to recognize a secret.
 */
const REGISTERS = 64;
const VIDS = 16;

/** Returns whether these bytes contain a piece from the beginning, middle or end of the secret. */
export function isWritten(known: Buffer, { vector, vids }: Secret): boolean {
  const values = new Map(vids.map((vid, i) => [vid, vector[i]!]));
  const byVid = vids.toSorted((a, b) => a - b);
  const reached = (those: number[]) => those.filter((vid) => values.get(vid)! > 0);
  const written = [
    ...[vids, byVid].flatMap((order) =>
      piecesOf(
        order.map((vid) => values.get(vid)!),
        REGISTERS,
      ).flatMap(waysToWrite),
    ),
    ...[reached(vids), reached(byVid)].flatMap((order) => piecesOf(order, VIDS).flatMap(waysToWriteLarge)),
  ];
  return written.some((piece) => known.includes(piece));
}

/**
 * Returns three pieces: from the beginning, the middle and the end. Each piece begins at a multiple of 8, so that it
 * begins at a whole byte even if the numbers are stored as bits.
 */
function piecesOf(numbers: number[], count: number): number[][] {
  const last = numbers.length - count;
  return [0, last >> 1, last].map((at) => (at >> 3) << 3).map((at) => numbers.slice(at, at + count));
}

function waysToWrite(numbers: number[]): Buffer[] {
  const bits = numbers.map((value) => (value > 0 ? 1 : 0));
  const eights = Array.from({ length: bits.length / 8 }, (_, i) => bits.slice(8 * i, 8 * i + 8));
  const packed = (order: number[][]) => Buffer.from(order.map((eight) => Number.parseInt(eight.join(''), 2)));
  return [
    Buffer.from(numbers),
    packed(eights),
    packed(eights.map((eight) => eight.toReversed())),
    Buffer.from(numbers.flatMap((value) => [value, 0])),
    Buffer.from(numbers.flatMap((value) => [8, value])),
    ...waysToWriteLarge(numbers),
  ];
}

function waysToWriteLarge(numbers: number[]): Buffer[] {
  const words = Uint32Array.from(numbers);
  const texts = ['', ',', ', ', ' ', '\n', ';'].map((separator) => Buffer.from(numbers.join(separator)));
  const littleEndian = Buffer.from(words.buffer);
  return [...texts, littleEndian, Buffer.from(littleEndian).swap32(), Buffer.from(numbers.flatMap(varint))];
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) | 128, ...varint(Math.floor(value / 128))];
}
