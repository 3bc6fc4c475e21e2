/** The body of a response from its parts. */

/** A short one is text, which goes out in one write with its headers; a long one is faster as bytes. */
const MAX_TEXT_LENGTH = 64 * 1024;
const scratch = Buffer.allocUnsafeSlow(3 * 1024 * 1024);

export function joinParts(parts: string[]): string | Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length <= MAX_TEXT_LENGTH) return parts.join('');
  // Counting the bytes first takes as long as writing them; a UTF-16 code unit has at most three.
  const room = 3 * length <= scratch.length ? scratch : Buffer.allocUnsafeSlow(3 * length);
  let at = 0;
  for (const part of parts) at += room.write(part, at);
  return Buffer.from(room.subarray(0, at));
}
