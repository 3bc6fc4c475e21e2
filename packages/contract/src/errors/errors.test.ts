import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson } from '../json/json.ts';
import { ExchangeError, errorFromJson } from './errors.ts';
import { REASONS, type Reason } from './reasons.ts';

const bodyOf = (error: ExchangeError) => parseJson(JSON.stringify(error));

describe('an error read back from its response', () => {
  it.each(Object.keys(REASONS) as Reason[])('equals the error that was sent: %s', (reason) => {
    const error = new ExchangeError(reason, 'No.', {
      metadata: { existing: 'a/b' },
      violations: [{ field: 'x.y', description: 'is wrong' }],
      retryAfterSeconds: 3,
    });
    const { code, metadata, violations, message, retryAfterSeconds, httpStatus } = error;
    expect(errorFromJson(bodyOf(error), { requestId: 'r1' })).toMatchObject({
      ...{ code, reason, metadata, violations, message, retryAfterSeconds, httpStatus },
      requestId: 'r1',
    });
  });

  it('keeps an unknown reason, and maps an unknown code by its HTTP status', () => {
    const error = errorFromJson({
      error: {
        code: 400,
        status: 'OUT_OF_RANGE',
        message: 'Too far.',
        details: [
          { '@type': 'type.googleapis.com/google.rpc.Help', links: [] },
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'MOON_TOO_FAR',
            domain: 'measurement-exchange',
            metadata: { km: 384400 },
          },
        ],
      },
    })!;
    expect(error).toMatchObject({
      reason: 'MOON_TOO_FAR',
      code: 'INVALID_ARGUMENT',
      metadata: { km: '384400' },
    });
    expect(error.httpStatus).toBe(400);
  });

  it('has the longer delay of Retry-After and RetryInfo', () => {
    const limited = bodyOf(new ExchangeError('RATE_LIMITED', 'Slow down.', { retryAfterSeconds: 7 }));
    expect(errorFromJson(limited, { retryAfterSeconds: 2 })?.retryAfterSeconds).toBe(7);
    expect(errorFromJson(limited, { retryAfterSeconds: 9 })?.retryAfterSeconds).toBe(9);
    expect(errorFromJson(bodyOf(new ExchangeError('INTERNAL', 'No.')))?.retryAfterSeconds).toBeUndefined();
  });

  it.each<[string, JsonValue]>([
    ['null', null],
    ['a string', 'Bad gateway'],
    ['an empty object', {}],
    ['an error that is a string', { error: 'no' }],
    ['an error without details', { error: { code: 503, status: 'UNAVAILABLE', message: 'no' } }],
    [
      'an error of another service',
      {
        error: {
          code: 403,
          status: 'PERMISSION_DENIED',
          message: 'no',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason: 'SERVICE_DISABLED',
              domain: 'googleapis.com',
            },
          ],
        },
      },
    ],
  ])('is undefined for %s', (_title, body) => {
    expect(errorFromJson(body)).toBeUndefined();
  });
});
