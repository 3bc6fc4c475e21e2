/** Builds a response body from its parts. */
import { Readable } from 'node:stream';

/**
 * A body up to this length, in UTF-16 code units, is sent as text, in one write with its headers. For longer bodies,
 * Node is faster with bytes.
 */
const MAX_TEXT_LENGTH = 8 * 1024;
/** A body up to this length is built in one piece. A longer body is built in pieces, as fast as the client reads. */
const MAX_WHOLE_LENGTH = 1024 * 1024;
const PIECE_LENGTH = 64 * 1024;
/**
 * Bodies between MAX_TEXT_LENGTH and MAX_WHOLE_LENGTH are built in this buffer. A UTF-16 code unit takes at most
 * three bytes in UTF-8.
 */
const scratch = Buffer.allocUnsafeSlow(3 * MAX_WHOLE_LENGTH);

export type ResponseBody = string | Buffer | Readable;

/** Builds a response body. If the body is long, later parts are generated only when they are about to be written. */
export function bodyOf(parts: Iterable<string>): ResponseBody {
  const taken: string[] = [];
  let length = 0;
  const rest = parts[Symbol.iterator]();
  for (let next = rest.next(); !next.done; next = rest.next()) {
    taken.push(next.value);
    length += next.value.length;
    if (length > MAX_WHOLE_LENGTH) return Readable.from(pieces(taken, rest), { objectMode: false });
  }
  return join(taken, length);
}

function join(parts: string[], length: number): string | Buffer {
  if (length <= MAX_TEXT_LENGTH) return parts.join('');
  // The buffer has room for the longest possible text, because counting the bytes first would take as long as writing
  // them.
  let at = 0;
  for (const part of parts) at += scratch.write(part, at);
  return Buffer.from(scratch.subarray(0, at));
}

function* pieces(taken: string[], rest: Iterator<string>): Generator<Buffer> {
  let text = '';
  for (const part of taken) yield Buffer.from(part);
  for (let next = rest.next(); !next.done; next = rest.next()) {
    text += next.value;
    if (text.length < PIECE_LENGTH) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}
