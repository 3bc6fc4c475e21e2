import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { derElements, ecdsaFromDer, ecdsaToDer, requireDer } from './der.ts';

const hex = (text: string) => Uint8Array.from(Buffer.from(text.replace(/\s/g, ''), 'hex'));
const CURVES: [string, number][] = [
  ['P-256', 32],
  ['P-384', 48],
  ['P-521', 66],
];

describe.each(CURVES)('an ECDSA signature on %s', (namedCurve, half) => {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve });
  const message = Buffer.from('measurement spec');

  it('is converted from DER to two halves that still verify', () => {
    for (let i = 0; i < rounds(100); i++) {
      const halves = ecdsaFromDer(sign('sha256', message, privateKey), half)!;
      expect(halves).toHaveLength(2 * half);
      expect(verify('sha256', message, { key: publicKey, dsaEncoding: 'ieee-p1363' }, halves)).toBe(true);
    }
  });

  it('is converted from two halves to DER that still verifies, and back', () => {
    for (let i = 0; i < rounds(100); i++) {
      const halves = sign('sha256', message, { key: privateKey, dsaEncoding: 'ieee-p1363' });
      const der = ecdsaToDer(halves);
      expect(verify('sha256', message, publicKey, der)).toBe(true);
      expect(ecdsaFromDer(der, half)).toEqual(Uint8Array.from(halves));
    }
  });

  it('is unchanged after conversion to DER and back, for any two integers above zero', () => {
    const integer = fc
      .tuple(fc.nat({ max: half - 1 }), fc.uint8Array({ minLength: half, maxLength: half }))
      .map(([zeros, bytes]) => bytes.fill(0, 0, zeros))
      .filter((bytes) => bytes.some((byte) => byte !== 0));
    fc.assert(
      fc.property(integer, integer, (r, s) => {
        const halves = Uint8Array.from([...r, ...s]);
        const der = ecdsaToDer(halves);
        expect(() => requireDer(der)).not.toThrow();
        expect(ecdsaFromDer(der, half)).toEqual(halves);
      }),
    );
  });
});

describe('a signature that is not exactly SEQUENCE { r, s }', () => {
  const good = '3006 020101 020102';
  const bad: [string, string][] = [
    ['no bytes', ''],
    ['a SET instead of a SEQUENCE', '3106 020101 020102'],
    ['one integer', '3003 020101'],
    ['three integers', '3009 020101 020102 020103'],
    ['a byte after it', `${good} 00`],
    ['a second signature after it', `${good} ${good}`],
    ['a byte after s inside the sequence', '3007 020101 020102 00'],
    ['a length beyond the end', '3007 020101 020102'],
    ['an integer beyond the end', '3006 020101 020202'],
    ['a long length instead of a short one', '308106 020101 020102'],
    ['a length with a leading zero', '30820006 020101 020102'],
    ['an indefinite length', '3080 020101 020102 0000'],
    ['an integer with a leading zero', '3007 02020001 020102'],
    ['a negative integer', '3006 020181 020102'],
    ['the integer zero', '3006 020100 020102'],
    ['an empty integer', '3005 0200 020102'],
    ['another type of value', '3006 040101 020102'],
    ['an integer wider than the curve', `3027 0222 01${'00'.repeat(33)} 020102`],
    ['a tag of several bytes', '3006 1f0101 020102'],
  ];

  it('is a variant of a signature that is accepted', () => {
    const halves = ecdsaFromDer(hex(good), 32)!;
    expect([halves[31], halves[63], halves.filter((byte) => byte !== 0).length]).toEqual([1, 2, 2]);
  });

  it.each(bad)('with %s is rejected', (_title, der) => {
    expect(ecdsaFromDer(hex(der), 32)).toBeUndefined();
  });

  it('is rejected without an exception, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
        const halves = ecdsaFromDer(bytes, 32);
        if (halves !== undefined) expect(ecdsaToDer(halves)).toEqual(bytes);
      }),
    );
  });
});

it('DER nested deeper than 32 levels, and lengths of more than four bytes, are rejected', () => {
  let nested: Uint8Array = hex('0500');
  for (let i = 0; i < 32; i++) nested = Uint8Array.from([0x30, nested.length, ...nested]);
  expect(() => requireDer(nested)).not.toThrow();
  expect(() => requireDer(Uint8Array.from([0x30, nested.length, ...nested]))).toThrow('32 levels');
  expect(() => derElements(hex('0485 0100000000'))).toThrow('shortest');
});
