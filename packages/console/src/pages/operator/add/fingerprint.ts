/** Compares a fingerprint that somebody types with the one of a certificate. */

export type Comparison =
  /** Too short so far, or not a fingerprint at all. */
  | { state: 'incomplete'; digits: number; isHex: boolean }
  | { state: 'same' }
  /** How many of the 32 pairs of digits differ: one or two are a slip, most of them are another certificate. */
  | { state: 'differs'; pairs: number };

const DIGITS = 64;

export function compareFingerprints(typed: string, computed: string): Comparison {
  const [mine, theirs] = [typed, computed].map((text) => text.replace(/[:\s]/g, '').toUpperCase()) as [
    string,
    string,
  ];
  const isHex = /^[0-9A-F]*$/.test(mine);
  if (!isHex || mine.length !== DIGITS) return { state: 'incomplete', digits: mine.length, isHex };
  const pairs = (text: string) => text.match(/../g)!;
  const other = pairs(theirs);
  const differing = pairs(mine).filter((pair, i) => pair !== other[i]).length;
  return differing === 0 ? { state: 'same' } : { state: 'differs', pairs: differing };
}
