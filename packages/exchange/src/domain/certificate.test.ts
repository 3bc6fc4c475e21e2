import { describe, expect, it } from 'vitest';
import {
  expiresIn,
  releaseHold,
  requireNoneRevoked,
  requireUsable,
  revocationMessage,
  revoke,
} from './certificate.ts';

const certificate = {
  party: 'dataProviders/tv',
  id: 'c1',
  notBefore: '2026-01-01T00:00:00.000000Z',
  notAfter: '2026-03-01T00:00:00.000000Z',
  revocationState: undefined,
  version: 1,
};
const held = { ...certificate, revocationState: 'HOLD' as const, version: 2 };
const NAME = 'dataProviders/tv/certificates/c1';
const revoked = { ...certificate, revocationState: 'REVOKED' as const, version: 2 };

describe('a certificate that a request names', () => {
  const invalid = (message: string) =>
    expect.objectContaining({
      reason: 'CERTIFICATE_IS_INVALID',
      message: `certificate names ${NAME}, which ${message}.`,
      metadata: { field: 'certificate', certificate: NAME },
    });
  const use = (change: object, now = '2026-02-01T00:00:00.000000Z') =>
    requireUsable({ ...certificate, ...change }, 'certificate', now);

  it('is usable from notBefore to notAfter, inclusive', () => {
    for (const now of [certificate.notBefore, certificate.notAfter]) {
      expect(use({}, now)).toEqual(certificate);
    }
    expect(() => use({}, '2025-12-31T23:59:59.999999Z')).toThrow(invalid('is not valid yet'));
    expect(() => use({}, '2026-03-01T00:00:00.000001Z')).toThrow(invalid('has expired'));
  });

  it('is not usable at any time when it is revoked or on hold', () => {
    expect(() => use({ revocationState: 'REVOKED' })).toThrow(invalid('is revoked'));
    expect(() => use({ revocationState: 'HOLD' }, '2030-01-01T00:00:00.000000Z')).toThrow(
      invalid('is on hold'),
    );
  });

  it('is rejected with FAILED_PRECONDITION if it does not exist', () => {
    expect(() => requireUsable(undefined, 'certificate', certificate.notBefore)).toThrow(
      expect.objectContaining({
        reason: 'CERTIFICATE_NOT_FOUND',
        code: 'FAILED_PRECONDITION',
        metadata: { field: 'certificate' },
      }),
    );
  });

  it('is named in the failure of the measurements that depended on it', () => {
    expect(revocationMessage(NAME, 'HOLD')).toBe(`${NAME} was put on hold.`);
    expect(revocationMessage(NAME, 'REVOKED')).toBe(`${NAME} was revoked.`);
  });
});

describe('the revocation state of a certificate', () => {
  it('changes to HOLD and REVOKED, and increments the version', () => {
    expect(revoke(certificate, 'HOLD')).toEqual(held);
    expect(revoke(certificate, 'REVOKED')).toEqual(revoked);
    expect(revoke(held, 'REVOKED')).toEqual({ ...revoked, version: 3 });
    expect(releaseHold(held, false)).toEqual({ ...certificate, version: 3 });
  });

  it('is unchanged if it is set again', () => {
    expect(revoke(held, 'HOLD')).toBe(held);
    expect(revoke(revoked, 'REVOKED')).toBe(revoked);
  });

  it('cannot change from REVOKED, and can be released only from HOLD', () => {
    expect(() => revoke(revoked, 'HOLD')).toThrow(
      'dataProviders/tv/certificates/c1 is revoked, which is final.',
    );
    expect(() => releaseHold(revoked, false)).toThrow('is revoked, which is final.');
    expect(() => releaseHold(certificate, false)).toThrow(`${NAME} is not on hold.`);
    const illegal = (metadata: object) =>
      expect.objectContaining({ reason: 'CERTIFICATE_REVOCATION_STATE_ILLEGAL', metadata });
    expect(() => revoke(revoked, 'HOLD')).toThrow(illegal({ certificate: NAME, revocationState: 'REVOKED' }));
    expect(() => releaseHold(certificate, false)).toThrow(illegal({ certificate: NAME }));
  });

  it('cannot be released from HOLD until the earlier measurements have failed', () => {
    expect(() => releaseHold(held, true)).toThrow(
      expect.objectContaining({ code: 'UNAVAILABLE', retryAfterSeconds: 1, metadata: { certificate: NAME } }),
    );
  });

  it('prevents results of measurements that depend on a certificate on hold', () => {
    requireNoneRevoked([]);
    expect(() => requireNoneRevoked([held])).toThrow(
      expect.objectContaining({
        reason: 'CERTIFICATE_IS_INVALID',
        message: `The measurement depends on ${NAME}, which is on hold.`,
        metadata: { certificate: NAME },
      }),
    );
  });
});

describe('expiresIn', () => {
  it.each([
    ['2026-01-29T23:59:59.000000Z', undefined],
    ['2026-01-30T00:00:00.000000Z', '2592000s'],
    ['2026-02-28T23:59:58.500000Z', '1s'],
    ['2026-03-01T00:00:00.000000Z', '0s'],
    ['2026-03-01T00:00:00.000001Z', '0s'],
    ['2026-03-01T00:00:01.000000Z', undefined],
  ])('at %s returns %s', (now, left) => {
    expect(expiresIn(certificate, now)).toBe(left);
  });

  it.each([held, revoked])('returns undefined for a certificate in state $revocationState', (one) => {
    expect(expiresIn(one, '2026-02-28T00:00:00.000000Z')).toBeUndefined();
  });
});
