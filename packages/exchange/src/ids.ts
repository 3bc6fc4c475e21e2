import { randomInt } from 'node:crypto';

const LETTERS = 'abcdefghijklmnopqrstuvwxyz';
const CHARACTERS = `${LETTERS}0123456789`;

/** A letter and 13 letters or digits: 71.9 random bits. */
export function newId(): string {
  let id = LETTERS[randomInt(LETTERS.length)]!;
  for (let i = 0; i < 13; i++) id += CHARACTERS[randomInt(CHARACTERS.length)];
  return id;
}
