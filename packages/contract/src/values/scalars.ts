/** Converts timestamps and bytes to and from text. Also has functions for nonces, and compares bytes. */

/**
 * RFC 3339 text in UTC with microseconds. A timestamp always has 27 characters, so sorting by text also sorts by time.
 */
export type Timestamp = string;

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** Parses RFC 3339 text into a Timestamp, dropping any digits past microseconds. Returns undefined for other text. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const m = RFC3339.exec(text);
  if (m === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = m.slice(1, 7).map(Number);
  const offsetHour = Number(m[9] ?? 0);
  const offsetMinute = Number(m[10] ?? 0);
  if (hour > 23 || minute > 59 || second > 59 || offsetHour > 23 || offsetMinute > 59) return undefined;
  const local = new Date(0);
  local.setUTCFullYear(year, month - 1, day);
  if (local.getUTCMonth() !== month - 1 || local.getUTCDate() !== day) return undefined;
  local.setUTCHours(hour, minute, second);
  const offset = (m[8] === '-' ? -1 : 1) * (offsetHour * 60 + offsetMinute);
  const utc = new Date(local.getTime() - offset * 60_000);
  const utcYear = utc.getUTCFullYear();
  if (utcYear < 1 || utcYear > 9999) return undefined;
  return `${utc.toISOString().slice(0, 19)}.${(m[7] ?? '').slice(0, 6).padEnd(6, '0')}Z`;
}

/**
 * A cache with one entry: the last converted second, and the text of that second up to and including the decimal point.
 * Most calls find their second here, because most timestamps are in the same second as the previous one.
 */
let written = { second: Number.NaN, text: '' };

/** Converts milliseconds since 1970 to a Timestamp. The fraction of a millisecond becomes microseconds. */
export function timestampOf(epochMillis: number): Timestamp {
  const millis = Math.floor(epochMillis);
  const second = Math.floor(millis / 1000);
  if (second !== written.second) {
    written = { second, text: new Date(second * 1000).toISOString().slice(0, -4) };
  }
  const micros = (millis - second * 1000) * 1000 + Math.floor((epochMillis - millis) * 1000);
  return `${written.text}${String(micros).padStart(6, '0')}Z`;
}

const hasBuffer = typeof Buffer !== 'undefined';

/** Encodes bytes as standard base64 with padding. */
export function toBase64(bytes: Uint8Array): string {
  if (hasBuffer) return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return (bytes as unknown as { toBase64(): string }).toBase64();
}

/**
 * Decodes standard or URL-safe base64, padded or not. Returns undefined for other text. Node's decoder is more lenient:
 * it skips characters outside the alphabet, and ignores wrong padding and the unused bits of the last character.
 * Therefore, this function checks the number of bytes, the padding, and the unused bits itself.
 */
export function fromBase64(text: string): Uint8Array | undefined {
  const urlSafe = text.includes('-') || text.includes('_');
  if (urlSafe && (text.includes('+') || text.includes('/'))) return undefined;
  const padding = text.endsWith('==') ? 2 : text.endsWith('=') ? 1 : 0;
  const letters = text.length - padding;
  // Reject a single character after the last group of four, because it encodes less than a byte. Also reject padding
  // that does not complete a group of four.
  if (letters % 4 === 1 || (padding > 0 && text.length % 4 !== 0)) return undefined;
  const bytes = decodeBase64(text, urlSafe ? 'base64url' : 'base64');
  if (bytes?.length !== Math.floor((letters * 3) / 4)) return undefined;
  const group = letters - (letters % 4);
  const last = toBase64(bytes.subarray((group / 4) * 3)).replaceAll('=', '');
  const given = text.slice(group, letters);
  const wanted = urlSafe ? last.replaceAll('+', '-').replaceAll('/', '_') : last;
  return given === wanted ? bytes : undefined;
}

type FromBase64 = (text: string, options: { alphabet: 'base64' | 'base64url' }) => Uint8Array;

function decodeBase64(text: string, alphabet: 'base64' | 'base64url'): Uint8Array | undefined {
  // Reject text that is not ASCII, because Node uses only the low byte of each character.
  if (hasBuffer) return Buffer.byteLength(text) === text.length ? Buffer.from(text, alphabet) : undefined;
  try {
    return (Uint8Array as unknown as { fromBase64: FromBase64 }).fromBase64(text, { alphabet });
  } catch {
    return undefined;
  }
}

const HEX = /^(?:[0-9a-fA-F]{2})+$/;

export function fromHex(text: string): Uint8Array | undefined {
  if (!HEX.test(text)) return undefined;
  return Uint8Array.from({ length: text.length / 2 }, (_, i) =>
    Number.parseInt(text.slice(2 * i, 2 * i + 2), 16),
  );
}

export const MAX_UINT64 = 2n ** 64n - 1n;

/**
 * Returns the two byte strings that can represent a nonce: its 8 big-endian bytes (canonical) and its decimal text. The
 * SHA-256 of either byte string is accepted as the nonceHash.
 */
export function noncePreimages(nonce: bigint): [canonical: Uint8Array, text: Uint8Array] {
  if (nonce < 0n || nonce > MAX_UINT64) throw new RangeError('A nonce is an unsigned integer of 64 bits.');
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setBigUint64(0, nonce);
  return [bytes, new TextEncoder().encode(nonce.toString())];
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}
