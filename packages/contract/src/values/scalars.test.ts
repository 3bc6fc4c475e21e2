import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  fromBase64,
  fromHex,
  MAX_UINT64,
  noncePreimages,
  parseTimestamp,
  timestampOf,
  toBase64,
} from './scalars.ts';

describe('timestamps', () => {
  it.each([
    ['2026-11-15T02:04:57Z', '2026-11-15T02:04:57.000000Z'],
    ['2026-11-15T02:04:57.5Z', '2026-11-15T02:04:57.500000Z'],
    ['2026-11-15T02:04:57.123456789Z', '2026-11-15T02:04:57.123456Z'],
    ['2026-11-15T02:04:57+01:00', '2026-11-15T01:04:57.000000Z'],
    ['2026-01-01T00:30:00-00:30', '2026-01-01T01:00:00.000000Z'],
    ['2025-12-31T23:59:59.999999-14:00', '2026-01-01T13:59:59.999999Z'],
    ['2024-02-29t00:00:00z', '2024-02-29T00:00:00.000000Z'],
    ['0001-01-01T00:00:00Z', '0001-01-01T00:00:00.000000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000000Z'],
  ])('reads %s as %s', (text, canonical) => {
    expect(parseTimestamp(text)).toBe(canonical);
  });

  it.each([
    '',
    '2026-11-15',
    '2026-11-15 02:04:57Z',
    '2026-11-15T02:04:57',
    '2026-02-29T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-00-10T00:00:00Z',
    '2026-04-31T00:00:00Z',
    '2026-11-15T24:00:00Z',
    '2026-11-15T02:60:00Z',
    '2026-11-15T02:04:60Z',
    '2026-11-15T02:04:57.Z',
    '2026-11-15T02:04:57.1234567890Z',
    '2026-11-15T02:04:57+1:00',
    '2026-11-15T02:04:57+24:00',
    '0000-12-31T00:00:00Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-01:00',
    '-2026-11-15T02:04:57Z',
  ])('rejects %j', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it('writes microseconds', () => {
    expect(timestampOf(Date.UTC(2026, 0, 2, 3, 4, 5, 678) + 0.5)).toBe('2026-01-02T03:04:05.678500Z');
  });

  it('writes times within one second and across seconds, in any order', () => {
    const second = Date.UTC(2026, 11, 31, 23, 59, 59);
    for (const millis of [0, 7, 999, 1000, 999, -1, 0, 61_000, -second, -second - 1]) {
      const iso = new Date(second + millis).toISOString();
      expect(timestampOf(second + millis + 0.25)).toBe(`${iso.slice(0, -1)}250Z`);
    }
  });
});

describe('base64', () => {
  const bytes = (...values: number[]) => Uint8Array.from(values);

  it('reads both alphabets, padded or not', () => {
    for (const text of ['+/8=', '+/8', '-_8=', '-_8'])
      expect(fromBase64(text)).toEqual(Buffer.from(bytes(0xfb, 0xff)));
    expect(fromBase64('')).toEqual(Buffer.alloc(0));
  });

  it.each([
    'A',
    'AAA A',
    ' AAAA',
    'AAAA\n',
    'AA=',
    'AAAA=',
    'A===',
    'AB==',
    'AAB=',
    '-/8=',
    'AA$A',
    'AAAA====',
    'é',
  ])('rejects %j', (text) => {
    expect(fromBase64(text)).toBeUndefined();
  });

  it('accepts exactly the texts that it can write back unchanged', () => {
    const writtenBack = (text: string) => {
      const written = Buffer.from(text, 'base64').toString('base64');
      const forms = [written, written.replaceAll('+', '-').replaceAll('/', '_')];
      return [...forms, ...forms.map((form) => form.replace(/=+$/, ''))].includes(text);
    };
    // The low byte of each of the last three characters is a base64 character. A decoder that uses only the low byte
    // would accept them.
    const letters = [...'ABQZz09+/-_=', ' ', '\n', '\0', '.', 'é', '\u0141', '\u0241', '\ud83d'];
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...letters), { maxLength: 12 }), (chosen) => {
        const text = chosen.join('');
        expect(fromBase64(text) !== undefined).toBe(writtenBack(text));
      }),
      { numRuns: rounds(20_000) },
    );
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 9 }),
        fc.nat(12),
        fc.constantFrom(...letters),
        (value, at, letter) => {
          const text = Buffer.from(value).toString('base64');
          const spoiled = text.slice(0, at) + letter + text.slice(at + 1);
          expect(fromBase64(spoiled) !== undefined).toBe(writtenBack(spoiled));
        },
      ),
      { numRuns: rounds(20_000) },
    );
  });

  it('writes the standard alphabet with padding and reads back what it wrote', () => {
    for (let n = 0; n < 300; n++) {
      const value = Uint8Array.from({ length: n }, (_, i) => (i * 89 + n) & 255);
      expect(Buffer.from(fromBase64(toBase64(value))!)).toEqual(Buffer.from(value));
    }
    expect(toBase64(bytes(0xfb, 0xff))).toBe('+/8=');
  });
});

describe('fromHex', () => {
  it('reads pairs of digits, and rejects everything else', () => {
    expect(fromHex('00fF')).toEqual(Uint8Array.of(0, 255));
    for (const text of ['', '0', '0g', '0x00', ' 00']) expect(fromHex(text)).toBeUndefined();
  });
});

describe('noncePreimages', () => {
  it('returns 8 big-endian bytes and the decimal text', () => {
    const text = (preimage: Uint8Array) => new TextDecoder().decode(preimage);
    const [canonical, decimal] = noncePreimages(0xb09d9f98ecd52179n);
    expect(Buffer.from(canonical).toString('hex')).toBe('b09d9f98ecd52179');
    expect(text(decimal)).toBe('12726503601176125817');
    expect(noncePreimages(1n)[0]).toEqual(Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 1));
    expect(noncePreimages(MAX_UINT64)[0]).toEqual(Uint8Array.of(...Array(8).fill(255)));
  });

  it('throws a RangeError for an integer outside of 64 bits', () => {
    for (const nonce of [-1n, MAX_UINT64 + 1n]) expect(() => noncePreimages(nonce)).toThrow(RangeError);
  });
});
