import { TYPE_URLS } from '@measurement-exchange/contract';
import { expect, it } from 'vitest';
import { inspectResult } from './typeUrls.ts';

it('inspectResult accepts known result types, and reports an unknown type', () => {
  expect(inspectResult(TYPE_URLS.MeasurementResult)).toEqual([]);
  expect(inspectResult(TYPE_URLS.SignedMessage)).toEqual([]);
  expect(inspectResult('x/y')).toMatchObject([
    { code: 'TYPE_URL_UNKNOWN', field: 'encryptedResult.typeUrl' },
  ]);
});
