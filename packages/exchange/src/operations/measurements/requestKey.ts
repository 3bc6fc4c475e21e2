import { canonicalJson, MeasurementInput } from '@measurement-exchange/contract';
import type { RequestKey } from '../../database/versions.ts';
import { contentHash, withoutFormat } from '../idempotency.ts';

/**
 * The hash omits values that may differ when a client repeats the request through the other API: the algorithm of a
 * signature, the format of a key, and an empty measurementReferenceId. It also omits the protocol, because a
 * measurement that was read and is created again names the protocol that the exchange chose.
 */
export function requestKeyOf(input: MeasurementInput, requestId: string | undefined): RequestKey | undefined {
  if (requestId === undefined) return undefined;
  const { protocolConfig: _wish, measurementReferenceId, measurementSpec, dataProviders, ...rest } = input;
  const { signatureAlgorithm: _algorithm, ...spec } = measurementSpec;
  const content: MeasurementInput = {
    ...rest,
    measurementReferenceId: measurementReferenceId || undefined,
    measurementSpec: spec,
    dataProviders: Object.fromEntries(
      Object.entries(dataProviders).map(([name, entry]) => [
        name,
        { ...entry, dataProviderPublicKey: withoutFormat(entry.dataProviderPublicKey) },
      ]),
    ),
  };
  return { id: requestId, hash: contentHash(canonicalJson(MeasurementInput, content)) };
}
