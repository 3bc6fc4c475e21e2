import { TYPE_URLS } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { inspectResult } from './typeUrls.ts';

it('a result is of a type that the consumer knows, or a finding', () => {
  expect(inspectResult(TYPE_URLS.MeasurementResult)).toEqual([]);
  expect(inspectResult(TYPE_URLS.SignedMessage)).toEqual([]);
  expect(inspectResult('x/y')).toMatchObject([
    { code: 'TYPE_URL_UNKNOWN', field: 'encryptedResult.typeUrl' },
  ]);
});
