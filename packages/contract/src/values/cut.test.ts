import { describe, expect, it } from 'vitest';
import { parseJsonBytes } from '../json/json.ts';
import { cut } from './cut.ts';

const FACE = '\u{1f600}';

describe('cut', () => {
  it.each([
    ['abc', 3, 'abc'],
    ['abcd', 3, 'abc'],
    ['', 3, ''],
    [`ab${FACE}`, 3, 'ab'],
    [`ab${FACE}`, 4, `ab${FACE}`],
    [`a${FACE}b`, 3, `a${FACE}`],
    [FACE, 1, ''],
    [FACE, 0, ''],
    // An unpaired surrogate of the input is replaced, even if nothing is cut.
    ['ab\ud83d', 3, 'ab\ufffd'],
    ['a\ude00b', 3, 'a\ufffdb'],
  ])('shortens %j to %d units as %j', (text, max, expected) => {
    expect(cut(text, max)).toBe(expected);
  });

  it('returns valid text for JSON at every length', () => {
    const text = `${FACE}a`.repeat(50);
    for (let max = 0; max <= text.length; max++) {
      const short = cut(text, max);
      expect(short.length).toBeGreaterThanOrEqual(max - 1);
      expect(short.length).toBeLessThanOrEqual(max);
      expect(parseJsonBytes(Buffer.from(JSON.stringify([short])))).toEqual([short]);
    }
  });
});
