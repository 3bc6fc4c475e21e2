/** Reads tags, lengths, object identifiers, and ECDSA signatures in DER. Also writes ECDSA signatures in DER. */
import { type Bytes, concat, toWidth } from '../base/bytes.ts';

const SEQUENCE = 0x30;
const INTEGER = 0x02;
const OBJECT_IDENTIFIER = 0x06;
const CONSTRUCTED = 0x20;
/** The maximum nesting depth. Real certificates nest about ten levels deep. */
const MAX_DEPTH = 32;

export interface Der {
  tag: number;
  content: Uint8Array;
  /** The whole element: tag, length, and content. */
  bytes: Uint8Array;
}

export class DerFault extends Error {}

export function derElements(bytes: Uint8Array): Der[] {
  const elements: Der[] = [];
  for (let at = 0; at < bytes.length; ) {
    const element = elementAt(bytes, at);
    elements.push(element);
    at += element.bytes.length;
  }
  return elements;
}

/** Returns the elements inside a SEQUENCE. Throws unless the bytes are exactly one SEQUENCE. */
export function derSequence(bytes: Uint8Array): Der[] {
  const [sequence, ...more] = derElements(bytes);
  if (sequence?.tag !== SEQUENCE || more.length > 0) throw new DerFault('is not one SEQUENCE');
  return derElements(sequence.content);
}

/**
 * Throws unless all elements, at every nesting level, follow the length rules of DER, which are stricter than those of
 * BER.
 */
export function requireDer(bytes: Uint8Array, depth = 0): void {
  if (depth > MAX_DEPTH) throw new DerFault(`nests deeper than ${MAX_DEPTH} levels`);
  for (const { tag, content } of derElements(bytes)) if (tag & CONSTRUCTED) requireDer(content, depth + 1);
}

function elementAt(bytes: Uint8Array, start: number): Der {
  const tag = bytes[start]!;
  if ((tag & 0x1f) === 0x1f) throw new DerFault('has a tag of several bytes');
  let at = start + 2;
  let length = bytes[start + 1];
  if (length === undefined) throw new DerFault('is truncated');
  if (length >= 0x80) {
    const octets = bytes.subarray(at, at + (length & 0x7f));
    at += length & 0x7f;
    length = octets.reduce((sum, octet) => sum * 256 + octet, 0);
    // DER requires the shortest form: no leading zeros, and a single byte for lengths below 128.
    if (octets.length === 0 || octets.length > 4 || octets[0] === 0 || length < 0x80) {
      throw new DerFault('has a length that is not the shortest');
    }
  }
  if (at + length > bytes.length) throw new DerFault('is truncated');
  return { tag, content: bytes.subarray(at, at + length), bytes: bytes.subarray(start, at + length) };
}

export function oidText(element: Der | undefined): string {
  if (element?.tag !== OBJECT_IDENTIFIER) throw new DerFault('lacks an object identifier');
  const arcs: number[] = [];
  let arc = 0;
  for (const byte of element.content) {
    arc = arc * 128 + (byte & 0x7f);
    if (byte < 0x80) {
      arcs.push(arc);
      arc = 0;
    }
  }
  const [head = 0, ...rest] = arcs;
  const first = Math.min(2, Math.floor(head / 40));
  return [first, head - 40 * first, ...rest].join('.');
}

/** Converts a signature from WebCrypto's format, r followed by s, to a DER SEQUENCE of r and s. */
export function ecdsaToDer(halves: Uint8Array): Bytes {
  const half = halves.length / 2;
  return element(SEQUENCE, concat(integer(halves.subarray(0, half)), integer(halves.subarray(half))));
}

/**
 * Converts a DER signature to WebCrypto's format, r followed by s. Returns undefined if the input is not a SEQUENCE of
 * exactly r and s.
 */
export function ecdsaFromDer(der: Uint8Array, half: number): Bytes | undefined {
  try {
    const elements = derSequence(der);
    if (elements.length !== 2) return undefined;
    const [r, s] = elements.map((e) => (isPositive(e) ? toWidth(e.content, half) : undefined));
    return r && s && concat(r, s);
  } catch (error) {
    if (error instanceof DerFault) return undefined;
    throw error;
  }
}

function isPositive({ tag, content: [first, second] }: Der): boolean {
  if (tag !== INTEGER || first === undefined || first >= 0x80) return false;
  return first !== 0 || (second !== undefined && second >= 0x80);
}

function integer(unsigned: Uint8Array): Bytes {
  const first = unsigned.findIndex((byte) => byte !== 0);
  const digits = unsigned.subarray(first === -1 ? unsigned.length - 1 : first);
  return element(INTEGER, digits[0]! >= 0x80 ? concat(Uint8Array.of(0), digits) : digits);
}

/**
 * Encodes one element of an ECDSA signature. Lengths above 127 need only one extra byte, because a signature has at
 * most 139 bytes (on P-521).
 */
function element(tag: number, content: Uint8Array): Bytes {
  const length = content.length < 0x80 ? [content.length] : [0x81, content.length];
  return concat(Uint8Array.of(tag, ...length), content);
}
