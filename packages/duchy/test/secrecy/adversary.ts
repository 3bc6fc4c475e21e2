/** An adversary that has the view of a party (see view.ts), knows the protocol, and searches the view for secrets. */
import { createDecipheriv } from 'node:crypto';
import { decrypt } from '@measurement-exchange/consent';
import {
  type ShareShuffleParameters,
  shuffledCount,
} from '@measurement-exchange/mpc/protocols/honestMajorityShareShuffle/limits';
import {
  combineSeeds,
  Keystream,
  NonZeroValues,
  SEED_BYTES,
  UniformValues,
} from '@measurement-exchange/mpc/shares';
import { shuffle } from '@measurement-exchange/mpc/shares/permutation';
import { inversesOf, Span } from './span.ts';
import type { View } from './view.ts';
import { isWritten, type Secret } from './written.ts';

/** The minimum length of the byte strings to examine. Shorter strings cannot contain data about a thousand people. */
const MIN_BYTES = 16;

/**
 * Returns the byte strings of the view, and all byte strings found inside them by parsing, decoding, and decrypting
 * with the keys of the view. Omits byte strings shorter than `MIN_BYTES`.
 */
export async function understand({ held, keysets }: View): Promise<Buffer[]> {
  const known = new Map<string, Buffer>();
  const open: Uint8Array[] = [...held];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const bytes = Buffer.from(next);
    const key = bytes.toString('latin1');
    if (bytes.length < MIN_BYTES || known.has(key)) continue;
    known.set(key, bytes);
    open.push(...partsOf(bytes), ...textsOf(bytes), ...fieldsOf(bytes));
    for (const keyset of keysets.values()) open.push(...(await plaintextsOf(bytes, keyset)));
  }
  return [...known.values()];
}

/**
 * Tries to decrypt the bytes with this keyset, both as one ciphertext and as a series of pieces. Returns the plaintexts
 * of the successful attempts.
 */
async function plaintextsOf(bytes: Buffer, keyset: Uint8Array): Promise<Uint8Array[]> {
  const whole = decrypt(keyset, bytes).then((plaintext) => [plaintext]);
  const outcomes = await Promise.allSettled([whole, unsealed(bytes, keyset).then((those) => [those])]);
  return outcomes.flatMap((outcome) => (outcome.status === 'fulfilled' ? outcome.value : []));
}

/**
 * Decrypts bytes that were encrypted in pieces. Unlike the product's code, skips the checks of the recipient and of
 * completeness.
 */
async function unsealed(bytes: Buffer, keyset: Uint8Array): Promise<Buffer> {
  const key = await decrypt(keyset, bytes.subarray(2, 2 + bytes.readUInt16BE()));
  const opened: Buffer[] = [];
  for (let at = 256, ordinal = 0; at < bytes.length; at += 2 ** 20, ordinal++) {
    const piece = bytes.subarray(at, at + 2 ** 20);
    const nonce = Buffer.alloc(12);
    nonce.writeUInt32BE(ordinal);
    nonce[11] = at + 2 ** 20 >= bytes.length ? 1 : 0;
    opened.push(createDecipheriv('aes-256-gcm', key, nonce).update(piece.subarray(0, -16)));
  }
  return Buffer.concat(opened);
}

/** Splits a multipart body into its parts. */
function partsOf(bytes: Buffer): Buffer[] {
  const boundary = /^--[^\r\n]+(?=\r\n)/.exec(bytes.subarray(0, 200).toString('latin1'))?.[0];
  if (boundary === undefined) return [];
  const parts = bytes.toString('latin1').split(`\r\n${boundary}`);
  return parts.map((part) => Buffer.from(part.slice(part.indexOf('\r\n\r\n') + 4), 'latin1'));
}

/** Returns the strings inside JSON, or the bytes that base64 or hexadecimal text encodes. */
function textsOf(bytes: Buffer): Buffer[] {
  const text = bytes.toString('latin1').trim();
  if (/^[\w+/-]+={0,2}$/.test(text)) {
    const isHex = /^(?:[0-9a-f]{2})+$/i.test(text);
    return [Buffer.from(text, 'base64'), ...(isHex ? [Buffer.from(text, 'hex')] : [])];
  }
  if (!/^[[{"]/.test(text)) return [];
  const strings: Buffer[] = [];
  try {
    JSON.parse(bytes.toString(), (name, value) => {
      strings.push(Buffer.from(name));
      if (typeof value === 'string') strings.push(Buffer.from(value));
    });
  } catch {
    // Ignore invalid JSON. The text only looked like JSON.
  }
  return strings;
}

/** Returns the length-delimited fields of a protobuf message. */
function fieldsOf(bytes: Buffer): Buffer[] {
  const fields: Buffer[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let shift = 1; at < bytes.length; shift *= 128) {
      const byte = bytes[at++]!;
      value += (byte & 127) * shift;
      if (byte < 128) break;
    }
    return value;
  };
  while (at < bytes.length) {
    const tag = varint();
    const wireType = tag % 8;
    if (tag < 8 || ![0, 1, 2, 5].includes(wireType)) return [];
    if (wireType === 0) varint();
    else {
      const length = wireType === 2 ? varint() : wireType === 1 ? 8 : 4;
      if (at + length > bytes.length) return [];
      if (wireType === 2) fields.push(bytes.subarray(at, at + length));
      at += length;
    }
  }
  return fields;
}

/**
 * Returns the names of the secrets that can be read from a view, or computed as linear combinations of the vectors in
 * the view. If only a linear combination of several secrets can be computed, returns `['a combination']`.
 */
export async function findSecrets(
  view: View,
  parameters: ShareShuffleParameters,
  secrets: Secret[],
): Promise<string[]> {
  const known = await understand(view);
  const vectors = vectorsIn(known, parameters);
  if (vectors.length >= parameters.registerCount) throw new Error('So many vectors span every secret.');
  const span = new Span(parameters.modulus, vectors);
  const all = Buffer.concat(known);
  const found = secrets.filter((secret) => isWritten(all, secret) || span.has(secret.vector));
  if (found.length > 0) return found.map(({ name }) => name);
  // Check that linear combinations of secrets, such as their differences, cannot be computed either.
  const own = new Span(parameters.modulus);
  const independent = secrets.filter(({ vector }) => own.add(vector));
  return independent.every(({ vector }) => span.add(vector)) ? [] : ['a combination'];
}

/**
 * Returns vectors with one value per register that can be read or computed from `known`: shares, expanded seeds,
 * shuffled lists, and sums of two such lists. Each list is used in its shuffled order, cut to the number of registers,
 * and also with the shuffle reversed. Each value of a sum is reduced to 0 or 1.
 */
export function vectorsIn(known: Buffer[], parameters: ShareShuffleParameters): Uint8Array[] {
  const { registerCount, modulus } = parameters;
  const seeds = known.filter(({ length }) => length === SEED_BYTES);
  const pairs = seeds.flatMap((one, i) => seeds.slice(i + 1).map((other) => combineSeeds(one, other)));
  const lists = listsIn(known, parameters);
  const ordered = [
    lists.map((list) => list.subarray(0, registerCount)),
    lists.map((list) => list.subarray(-registerCount)),
    ...[...seeds, ...pairs].map((seed) => lists.map((list) => unshuffled(list, seed, parameters))),
  ];
  const sums = ordered.flatMap((those) =>
    those.flatMap((one, i) =>
      those.slice(i + 1).map((other) => one.map((a, j) => (a + other[j]!) % modulus)),
    ),
  );
  return [
    ...known.filter((bytes) => bytes.length === registerCount && isOfRing(bytes, modulus)),
    ...seeds.map((seed) => expanded(seed, registerCount, modulus)),
    ...ordered.flat(),
    // A reach computation masks all values except 0, so reduce the sums to "0" and "not 0".
    ...sums.map((sum) => sum.map((value) => (value === 0 ? 0 : 1))),
  ];
}

/** Returns the byte strings that may be lists of people's registers and noise registers in shuffled order. */
export function listsIn(known: Buffer[], parameters: ShareShuffleParameters): Uint8Array[] {
  const count = shuffledCount(parameters);
  return known.filter((bytes) => bytes.length === count && isOfRing(bytes, parameters.modulus));
}

function isOfRing(bytes: Uint8Array, modulus: number): boolean {
  return bytes.every((value) => value < modulus);
}

export function expanded(seed: Uint8Array, count: number, modulus: number): Uint8Array {
  const values = new Uint8Array(count);
  new UniformValues(new Keystream(seed), modulus, count).fill(values);
  return values;
}

/**
 * Returns the registers of people in a list that the workers shuffled with this common seed. Reverses the shuffle and,
 * in a reach computation, the masking.
 */
export function unshuffled(
  list: Uint8Array,
  commonSeed: Uint8Array,
  { measurementType, modulus, registerCount, noiseRegisterCount }: ShareShuffleParameters,
): Uint8Array {
  const keystream = new Keystream(commonSeed);
  const factors = new Uint8Array(registerCount).fill(1);
  if (measurementType === 'REACH') new NonZeroValues(keystream, modulus, registerCount).fill(factors);
  for (let worker = 0; worker < 2; worker++) {
    new UniformValues(keystream, modulus, noiseRegisterCount).fill(new Uint8Array(noiseRegisterCount));
  }
  const seed = keystream.bytes(SEED_BYTES);
  // The original register number at each position, in two bytes.
  const low = list.map((_, i) => i & 0xff);
  const high = list.map((_, i) => i >> 8);
  shuffle(low, seed);
  shuffle(high, seed);
  const before = new Uint8Array(list.length);
  for (const [i, value] of list.entries()) before[low[i]! | (high[i]! << 8)] = value;
  const inverses = inversesOf(modulus);
  return before.subarray(0, registerCount).map((value, i) => (value * inverses[factors[i]!]!) % modulus);
}
