/** Reports unexpected type URLs. */
import { type Finding, TYPE_URLS } from '@measurement-exchange/contract';
import { finding } from './findings.ts';

export function typeUrlFindings(field: string, actual: string, expected: string[]): Finding[] {
  if (expected.includes(actual)) return [];
  return [finding('TYPE_URL_UNKNOWN', field, `The type is not ${expected.join(' or ')}.`)];
}

export function inspectResult(typeUrl: string): Finding[] {
  return typeUrlFindings('encryptedResult.typeUrl', typeUrl, [
    TYPE_URLS.MeasurementResult,
    TYPE_URLS.SignedMessage,
  ]);
}
