import { fromBinary } from '@bufbuild/protobuf';
import { packEncryptionPublicKey } from '@measurement-exchange/consent';
import {
  decodeMeasurementSpec,
  measurementSpecViolations,
  type PlainSpec,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readRequest } from './readRequest.ts';
import type { MeasurementRequest } from './request.ts';
import { encodeMeasurementSpec, encodeRequisitionSpec } from './specs.ts';

const KEYSET = Uint8Array.of(8, 1);
const interval = { start: '2026-01-01T00:00:00Z', end: '2026-01-08T00:00:00.25Z' };

const privacy = fc.record({
  epsilon: fc.double({ min: 1e-6, max: 100, noNaN: true }),
  delta: fc.double({ min: 0, max: 0.99, noNaN: true }),
});
const sampling = fc
  .tuple(fc.double({ min: 0, max: 0.99, noNaN: true }), fc.double({ min: 0.001, max: 1, noNaN: true }))
  .map(([start, part]) => ({ start, width: Math.max(1e-6, (1 - start) * part) }));
const cap = fc.integer({ min: 2, max: 2 ** 31 - 1 });
const dataProviders = [
  { name: 'dataProviders/a', eventGroups: [{ name: 'dataProviders/a/eventGroups/1', interval }] },
];
const common = { dataProviders: fc.constant(dataProviders), privacy, vidSampling: sampling };

const anyRequest = fc.oneof(
  fc.record({ type: fc.constant('reach' as const), ...common }),
  fc.record({
    type: fc.constant('reachAndFrequency' as const),
    ...common,
    frequencyPrivacy: privacy,
    maximumFrequency: cap,
  }),
  fc.record({ type: fc.constant('impression' as const), ...common, maximumFrequencyPerUser: cap }),
  fc.record({
    type: fc.constant('duration' as const),
    ...common,
    maximumWatchDurationSeconds: fc.double({ min: 1e-9, max: 1e5, noNaN: true }),
  }),
  fc.record({
    type: fc.constant('population' as const),
    dataProviders: fc.constant([{ name: 'dataProviders/a' }]),
  }),
);

/**
 * Converts the cap of watch durations from seconds to whole nanoseconds, which is the precision of the serialized spec.
 * As a floating-point number of seconds, a decoded cap can differ from the requested cap in the last bit.
 */
function inNanos(spec: PlainSpec): PlainSpec {
  if (spec.measurementType !== 'DURATION') return spec;
  const seconds = spec.duration.maximumWatchDurationPerUser!;
  return { ...spec, duration: { ...spec.duration, maximumWatchDurationPerUser: Math.round(seconds * 1e9) } };
}

it('writes a MeasurementSpec that decodes to the request and passes every check', () => {
  fc.assert(
    fc.property(anyRequest, (request) => {
      const { spec } = readRequest(request);
      const hashes = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
      const decoded = decodeMeasurementSpec(encodeMeasurementSpec(spec, KEYSET, hashes));
      if ('error' in decoded) throw new Error(decoded.error);
      const value = packEncryptionPublicKey(KEYSET);
      expect(inNanos(decoded.spec)).toEqual({
        ...inNanos(spec),
        nonceHashes: hashes,
        measurementPublicKey: { typeUrl: TYPE_URLS.EncryptionPublicKey, value },
      });
      expect(measurementSpecViolations(decoded.spec)).toEqual([]);
    }),
  );
});

it('writes a RequisitionSpec with event groups, intervals, filters, the nonce and the same key', () => {
  const filter = 'person.age > 30';
  const request: MeasurementRequest = {
    type: 'reach',
    privacy: { epsilon: 1, delta: 0 },
    modelLine: 'modelLines/x',
    dataProviders: [
      {
        name: 'dataProviders/a',
        eventGroups: [
          { name: 'dataProviders/a/eventGroups/1', interval, filter },
          { name: 'dataProviders/a/eventGroups/2', interval },
        ],
      },
    ],
  };
  const { spec, dataProviders: read } = readRequest(request);
  const nonce = 2n ** 64n - 1n;
  const bytes = encodeRequisitionSpec(read[0]!.selection, KEYSET, nonce);
  const message = fromBinary(specs.RequisitionSpecSchema, bytes);
  const measurementSpec = fromBinary(specs.MeasurementSpecSchema, encodeMeasurementSpec(spec, KEYSET, []));
  expect(measurementSpec.modelLine).toBe('modelLines/x');
  expect(message.nonce).toBe(nonce);
  expect(message.measurementPublicKey).toEqual(measurementSpec.measurementPublicKey);
  const collectionInterval = {
    startTime: { seconds: BigInt(Date.UTC(2026, 0, 1) / 1000), nanos: 0 },
    endTime: { seconds: BigInt(Date.UTC(2026, 0, 8) / 1000), nanos: 250_000_000 },
  };
  const [first, second] =
    message.requisitionType.case === 'events' ? message.requisitionType.value.eventGroups : [];
  expect(first).toMatchObject({
    key: 'dataProviders/a/eventGroups/1',
    value: { collectionInterval, filter: { expression: filter } },
  });
  expect(second).toMatchObject({ key: 'dataProviders/a/eventGroups/2', value: { collectionInterval } });
  expect(second!.value!.filter).toBeUndefined();
});

it('writes a RequisitionSpec of a population, with and without a filter', () => {
  const of = (population?: { filter?: string; interval?: typeof interval }) => {
    const request: MeasurementRequest = {
      type: 'population',
      dataProviders: [{ name: 'dataProviders/a', ...(population && { population }) }],
    };
    const { selection } = readRequest(request).dataProviders[0]!;
    return fromBinary(specs.RequisitionSpecSchema, encodeRequisitionSpec(selection, KEYSET, 1n))
      .requisitionType;
  };
  expect(of()).toMatchObject({ case: 'population', value: {} });
  expect(of({ filter: 'a == 1', interval })).toMatchObject({
    case: 'population',
    value: { filter: { expression: 'a == 1' }, interval: { endTime: { nanos: 250_000_000 } } },
  });
});
