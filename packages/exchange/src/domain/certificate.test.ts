import { describe, expect, it } from 'vitest';
import { expiresIn, releaseHold, requireNoneRevoked, revoke } from './certificate.ts';

const certificate = {
  party: 'dataProviders/tv',
  id: 'c1',
  notBefore: '2026-01-01T00:00:00.000000Z',
  notAfter: '2026-03-01T00:00:00.000000Z',
  revocationState: undefined,
  version: 1,
};
const held = { ...certificate, revocationState: 'HOLD' as const, version: 2 };
const revoked = { ...certificate, revocationState: 'REVOKED' as const, version: 2 };

describe('the revocation state of a certificate', () => {
  it('goes to HOLD and to REVOKED, and counts versions', () => {
    expect(revoke(certificate, 'HOLD')).toEqual(held);
    expect(revoke(certificate, 'REVOKED')).toEqual(revoked);
    expect(revoke(held, 'REVOKED')).toEqual({ ...revoked, version: 3 });
    expect(releaseHold(held, false)).toEqual({ ...certificate, version: 3 });
  });

  it('is the same record where it was so already', () => {
    expect(revoke(held, 'HOLD')).toBe(held);
    expect(revoke(revoked, 'REVOKED')).toBe(revoked);
  });

  it('never leaves REVOKED, and is released from HOLD only', () => {
    expect(() => revoke(revoked, 'HOLD')).toThrow(
      'dataProviders/tv/certificates/c1 is revoked, which is final.',
    );
    expect(() => releaseHold(revoked, false)).toThrow('is revoked, which is final.');
    expect(() => releaseHold(certificate, false)).toThrow('is not on hold.');
  });

  it('stays as long as measurements of before are still to be failed', () => {
    expect(() => releaseHold(held, true)).toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE', retryAfterSeconds: 1 }),
    );
  });

  it('keeps a measurement from taking results', () => {
    requireNoneRevoked([]);
    expect(() => requireNoneRevoked([held])).toThrow(
      'rests on dataProviders/tv/certificates/c1, which is on hold.',
    );
  });
});

describe('the time that is left', () => {
  it.each([
    ['2026-01-29T23:59:59.000000Z', undefined],
    ['2026-01-30T00:00:00.000000Z', '2592000s'],
    ['2026-02-28T23:59:58.500000Z', '1s'],
    ['2026-03-01T00:00:00.000000Z', '0s'],
    ['2026-03-01T00:00:00.000001Z', '0s'],
    ['2026-03-01T00:00:01.000000Z', undefined],
  ])('at %s is %s', (now, left) => {
    expect(expiresIn(certificate, now)).toBe(left);
  });

  it('is not told of a certificate that is out of force anyway', () => {
    expect(expiresIn(held, '2026-02-28T00:00:00.000000Z')).toBeUndefined();
  });
});
