import { describe, expect, it } from 'vitest';
import { keepByBytes } from './keepByBytes.ts';

describe('what is made from bytes', () => {
  const counting = () => {
    const made: string[] = [];
    const keep = keepByBytes((bytes) => {
      made.push(Buffer.from(bytes).toString('hex').slice(0, 8));
      return { length: bytes.length };
    });
    return { made, keep };
  };
  const numbered = (n: number) => Buffer.from(n.toString(16).padStart(8, '0'), 'hex');

  it('is made once for the same bytes, wherever they lie', () => {
    const { made, keep } = counting();
    const value = keep(Uint8Array.of(1, 2, 3));
    expect(keep(Uint8Array.of(9, 1, 2, 3, 9).subarray(1, 4))).toBe(value);
    expect(keep(Buffer.from([1, 2, 3]))).toBe(value);
    expect(made).toEqual(['010203']);
  });

  it('is made anew for others: longer, shorter, different in one byte, beyond ASCII', () => {
    const { made, keep } = counting();
    for (const bytes of [[1, 2], [1, 2, 3], [], [1, 3], [0x80], [0xc2, 0x80]]) keep(Uint8Array.from(bytes));
    expect(made).toHaveLength(6);
  });

  it('stays while it is used, and makes room when it is not', () => {
    const { made, keep } = counting();
    for (let n = 0; n < 10_000; n++) {
      keep(numbered(n));
      if (n % 500 === 0) keep(numbered(7));
    }
    expect(made.filter((hex) => hex === '00000007')).toHaveLength(1);
    const before = made.length;
    keep(numbered(8));
    expect(made).toHaveLength(before + 1);
  });

  it('that fails fails again', () => {
    const keep = keepByBytes(() => {
      throw new Error('no certificate');
    });
    for (const _ of [1, 2]) expect(() => keep(Uint8Array.of(1))).toThrow('no certificate');
  });
});
