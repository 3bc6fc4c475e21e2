import { expect, it } from 'vitest';
import { compareFingerprints } from './fingerprint.ts';

const COMPUTED = Array.from({ length: 32 }, (_, i) => (i + 160).toString(16).toUpperCase()).join(':');

it('compareFingerprints ignores separators and case', () => {
  for (const typed of [COMPUTED, COMPUTED.replaceAll(':', ''), COMPUTED.toLowerCase().replaceAll(':', ' ')]) {
    expect(compareFingerprints(typed, COMPUTED)).toEqual({ state: 'same' });
  }
});

it('compareFingerprints counts the digits of an incomplete fingerprint, or the differing pairs', () => {
  expect(compareFingerprints('', COMPUTED)).toEqual({ state: 'incomplete', digits: 0, isHex: true });
  expect(compareFingerprints('A0:A1:G', COMPUTED)).toEqual({ state: 'incomplete', digits: 5, isHex: false });
  expect(compareFingerprints(`${COMPUTED}00`, COMPUTED)).toMatchObject({ state: 'incomplete', digits: 66 });
  expect(compareFingerprints(COMPUTED.replace('A7', '7A'), COMPUTED)).toEqual({ state: 'differs', pairs: 1 });
  expect(compareFingerprints('00'.repeat(32), COMPUTED)).toEqual({ state: 'differs', pairs: 32 });
});
