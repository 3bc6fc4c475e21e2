/** The messages that ask for a measurement, serialized. */
import { create, fromBinary, fromJson, toBinary } from '@bufbuild/protobuf';
import { type Any, AnySchema, type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { packEncryptionPublicKey } from '@measurement-exchange/consent';
import { type PlainSpec, specs, TYPE_URLS } from '@measurement-exchange/contract';
import type { Selection } from './request.ts';

/** Encodes the MeasurementSpec, which every provider of the measurement sees; without key and hashes, only its parameters. */
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

/** A serialized MeasurementSpec without its key and its nonce hashes, byte for byte. */
export function parametersIn(measurementSpec: Uint8Array): Uint8Array {
  const message = fromBinary(specs.MeasurementSpecSchema, measurementSpec);
  delete message.measurementPublicKey;
  message.nonceHashes = [];
  return toBinary(specs.MeasurementSpecSchema, message);
}

/** Encodes the RequisitionSpec, which only one provider can read; without key and nonce, only the selection. */
export function encodeRequisitionSpec(
  selection: Selection,
  publicKeyset?: Uint8Array,
  nonce = 0n,
): Uint8Array {
  const message = create(specs.RequisitionSpecSchema, {
    selection: 'population' in selection ? population(selection.population) : events(selection.eventGroups),
    nonce,
    ...(publicKeyset && { measurementPublicKey: measurementPublicKey(publicKeyset) }),
  });
  return toBinary(specs.RequisitionSpecSchema, message);
}

/** The key has the same bytes in both specs, because providers compare them. */
function measurementPublicKey(keyset: Uint8Array): Any {
  return create(AnySchema, {
    typeUrl: TYPE_URLS.EncryptionPublicKey,
    value: packEncryptionPublicKey(keyset),
  });
}

function measurementType(spec: PlainSpec) {
  switch (spec.measurementType) {
    case 'REACH':
      return { case: 'reach', value: create(specs.MeasurementSpec_ReachSchema, spec.reach) } as const;
    case 'REACH_AND_FREQUENCY': {
      const value = create(specs.MeasurementSpec_ReachAndFrequencySchema, spec.reachAndFrequency);
      return { case: 'reachAndFrequency', value } as const;
    }
    case 'IMPRESSION': {
      const value = create(specs.MeasurementSpec_ImpressionSchema, spec.impression);
      return { case: 'impression', value } as const;
    }
    case 'DURATION': {
      const { privacyParams, maximumWatchDurationPerUser = 0 } = spec.duration;
      const seconds = Math.floor(maximumWatchDurationPerUser);
      const nanos = Math.round((maximumWatchDurationPerUser - seconds) * 1e9);
      const value = create(specs.MeasurementSpec_DurationSchema, {
        ...(privacyParams && { privacyParams }),
        maximumWatchDurationPerUser: { seconds: BigInt(seconds), nanos },
      });
      return { case: 'duration', value } as const;
    }
    case 'POPULATION':
      return { case: 'population', value: create(specs.MeasurementSpec_PopulationSchema) } as const;
  }
}

type EventGroups = Extract<Selection, { eventGroups: unknown }>['eventGroups'];
type Population = Extract<Selection, { population: unknown }>['population'];

function events(eventGroups: EventGroups) {
  const value = create(specs.RequisitionSpec_EventsSchema, {
    eventGroups: eventGroups.map(({ name, interval, filter }) => ({
      key: name,
      value: { collectionInterval: intervalOf(interval), ...filterOf(filter) },
    })),
  });
  return { case: 'events', value } as const;
}

function population({ filter, interval }: Population) {
  const value = create(specs.RequisitionSpec_PopulationSchema, {
    ...filterOf(filter),
    ...(interval && { interval: intervalOf(interval) }),
  });
  return { case: 'population', value } as const;
}

function filterOf(expression: string | undefined) {
  return expression === undefined ? {} : { filter: { expression } };
}

function intervalOf({ start, end }: { start: string; end: string }) {
  return { startTime: timestamp(start), endTime: timestamp(end) };
}

function timestamp(text: string): Timestamp {
  return fromJson(TimestampSchema, text);
}
