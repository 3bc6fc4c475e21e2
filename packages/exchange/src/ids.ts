import { randomFillSync } from 'node:crypto';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const CHARACTERS = `${LETTERS}0123456789`;

/** Returns a random ID: one letter, then 13 letters or digits (71.9 bits of randomness). */
export function newId(): string {
  let id = oneOf(LETTERS);
  for (let i = 0; i < 13; i++) id += oneOf(CHARACTERS);
  return id;
}

const drawn = new Uint8Array(1_024);
let used = drawn.length;

function oneOf(characters: string): string {
  // Discard the largest byte values, because they would make the first characters more likely than the others.
  const fair = 256 - (256 % characters.length);
  for (;;) {
    if (used === drawn.length) {
      randomFillSync(drawn);
      used = 0;
    }
    const byte = drawn[used++]!;
    if (byte < fair) return characters[byte % characters.length]!;
  }
}
