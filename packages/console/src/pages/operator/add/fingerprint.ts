/** Compares a fingerprint that the operator types with the fingerprint of a certificate. */

export type Comparison =
  /** The input does not consist of 64 hexadecimal digits. `digits` is its length without colons and white space. */
  | { state: 'incomplete'; digits: number; isHex: boolean }
  | { state: 'same' }
  /**
   * `pairs` is the number of digit pairs that differ, out of 32. One or two suggest a typing error, and many suggest a
   * different certificate.
   */
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
