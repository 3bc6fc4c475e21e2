import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { SECRETS_KEY_BYTES, Secrets } from './secrets.ts';

const key = randomBytes(SECRETS_KEY_BYTES);
const secrets = new Secrets(key);
const plaintext = randomBytes(40);

it('a sealed value opens with the same key and place, also in another instance', () => {
  const sealed = secrets.seal('webhook', plaintext);
  expect(new Secrets(key).open('webhook', sealed)).toEqual(plaintext);
  expect(secrets.open('empty', secrets.seal('empty', new Uint8Array()))).toHaveLength(0);
});

it('a sealed value does not open in another place, with another key, or if it was changed', () => {
  const sealed = secrets.seal('webhook', plaintext);
  expect(() => secrets.open('another', sealed)).toThrow('another does not open');
  expect(() => secrets.open('', sealed)).toThrow('does not open');
  expect(() => new Secrets(randomBytes(SECRETS_KEY_BYTES)).open('webhook', sealed)).toThrow('does not open');
  for (const at of [0, 11, 12, sealed.length - 17, sealed.length - 1]) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(() => secrets.open('webhook', changed), String(at)).toThrow('does not open');
  }
  expect(() => secrets.open('webhook', sealed.subarray(0, 20))).toThrow('does not open');
});

it('a sealed value reveals neither its plaintext nor that two plaintexts are the same', () => {
  const [one, two] = [secrets.seal('webhook', plaintext), secrets.seal('webhook', plaintext)];
  expect(one.includes(plaintext.subarray(0, 8))).toBe(false);
  expect(one.equals(two)).toBe(false);
  expect(one.subarray(0, 12).equals(two.subarray(0, 12))).toBe(false);
});

it('a key must have 32 bytes', () => {
  for (const length of [0, 16, 31, 33]) expect(() => new Secrets(new Uint8Array(length))).toThrow('32 bytes');
});
