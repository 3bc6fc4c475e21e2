import { expect, it } from 'vitest';
import { compareFingerprints } from './fingerprint.ts';

const COMPUTED = Array.from({ length: 32 }, (_, i) => (i + 160).toString(16).toUpperCase()).join(':');

it('accepts the fingerprint however it is written', () => {
  for (const typed of [COMPUTED, COMPUTED.replaceAll(':', ''), COMPUTED.toLowerCase().replaceAll(':', ' ')]) {
    expect(compareFingerprints(typed, COMPUTED)).toEqual({ state: 'same' });
  }
});

it('tells an unfinished fingerprint from a wrong one, and a slip from another certificate', () => {
  expect(compareFingerprints('', COMPUTED)).toEqual({ state: 'incomplete', digits: 0, isHex: true });
  expect(compareFingerprints('A0:A1:G', COMPUTED)).toEqual({ state: 'incomplete', digits: 5, isHex: false });
  expect(compareFingerprints(`${COMPUTED}00`, COMPUTED)).toMatchObject({ state: 'incomplete', digits: 66 });
  expect(compareFingerprints(COMPUTED.replace('A7', '7A'), COMPUTED)).toEqual({ state: 'differs', pairs: 1 });
  expect(compareFingerprints('00'.repeat(32), COMPUTED)).toEqual({ state: 'differs', pairs: 32 });
});
