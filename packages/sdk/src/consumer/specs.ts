/** Serializes the two specs that request a measurement: the MeasurementSpec and the RequisitionSpec. */
import { create, fromBinary, fromJson, toBinary } from '@bufbuild/protobuf';
import { type Any, AnySchema, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { packEncryptionPublicKey } from '@measurement-exchange/consent';
import { type PlainSpec, specs, TYPE_URLS } from '@measurement-exchange/contract';
import type { Selection } from './request.ts';

/**
 * Serializes the MeasurementSpec, which all of the measurement's providers read. The key and nonce hashes are optional.
 */
export function encodeMeasurementSpec(
  spec: PlainSpec,
  publicKeyset?: Uint8Array,
  nonceHashes: Uint8Array[] = [],
): Uint8Array {
  const message = create(specs.MeasurementSpecSchema, {
    modelLine: spec.modelLine ?? '',
    ...(spec.vidSamplingInterval && { vidSamplingInterval: spec.vidSamplingInterval }),
    measurementType: measurementType(spec),
    ...(publicKeyset && { measurementPublicKey: measurementPublicKey(publicKeyset) }),
    nonceHashes,
  });
  return toBinary(specs.MeasurementSpecSchema, message);
}

/** Removes the key and the nonce hashes from a serialized MeasurementSpec. */
export function parametersIn(measurementSpec: Uint8Array): Uint8Array {
  const message = fromBinary(specs.MeasurementSpecSchema, measurementSpec);
  delete message.measurementPublicKey;
  message.nonceHashes = [];
  return toBinary(specs.MeasurementSpecSchema, message);
}

/** Serializes the RequisitionSpec, which only one provider can read. The key and nonce are optional. */
export function encodeRequisitionSpec(
  selection: Selection,
  publicKeyset?: Uint8Array,
  nonce = 0n,
): Uint8Array {
  const message = create(specs.RequisitionSpecSchema, {
    requisitionType: selectionOf(selection),
    nonce,
    ...(publicKeyset && { measurementPublicKey: measurementPublicKey(publicKeyset) }),
  });
  return toBinary(specs.RequisitionSpecSchema, message);
}

/**
 * Packs the public key for encrypting results. Both specs must contain this key with the same bytes, because providers
 * compare the key in one spec with the key in the other.
 */
function measurementPublicKey(keyset: Uint8Array): Any {
  return create(AnySchema, {
    typeUrl: TYPE_URLS.EncryptionPublicKey,
    value: packEncryptionPublicKey(keyset),
  });
}

function measurementType(spec: PlainSpec) {
  switch (spec.measurementType) {
    case 'REACH':
      return { case: 'reach', value: spec.reach } as const;
    case 'REACH_AND_FREQUENCY':
      return { case: 'reachAndFrequency', value: spec.reachAndFrequency } as const;
    case 'IMPRESSION':
      return { case: 'impression', value: spec.impression } as const;
    case 'DURATION': {
      const { privacyParams, maximumWatchDurationPerUser = 0 } = spec.duration;
      const seconds = Math.floor(maximumWatchDurationPerUser);
      const nanos = Math.round((maximumWatchDurationPerUser - seconds) * 1e9);
      const maximum = { seconds: BigInt(seconds), nanos };
      const value = { ...(privacyParams && { privacyParams }), maximumWatchDurationPerUser: maximum };
      return { case: 'duration', value } as const;
    }
    case 'POPULATION':
      return { case: 'population', value: {} } as const;
  }
}

function selectionOf(selection: Selection) {
  if ('population' in selection) {
    const { filter, interval } = selection.population;
    const value = { ...filterOf(filter), ...(interval && { interval: intervalOf(interval) }) };
    return { case: 'population', value } as const;
  }
  const eventGroups = selection.eventGroups.map(({ name, interval, filter }) => ({
    key: name,
    value: { collectionInterval: intervalOf(interval), ...filterOf(filter) },
  }));
  return { case: 'events', value: { eventGroups } } as const;
}

function filterOf(expression: string | undefined) {
  return expression === undefined ? {} : { filter: { expression } };
}

function intervalOf({ start, end }: { start: string; end: string }) {
  return { startTime: fromJson(TimestampSchema, start), endTime: fromJson(TimestampSchema, end) };
}
