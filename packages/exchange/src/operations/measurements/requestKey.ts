import { canonicalJson, MeasurementInput } from '@measurement-exchange/contract';
import type { RequestKey } from '../../database/versions.ts';
import { contentHash, withoutFormat } from '../idempotency.ts';

/**
 * Returns the ID and a hash of a request. The hash omits values that may differ when a client repeats a JSON request in
 * protobuf, or the reverse: the algorithm of a signature, the format of a key, and an empty measurementReferenceId. The
 * hash also omits the protocol, because a client may read the created measurement and send it again, with the protocol
 * that the exchange chose.
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
