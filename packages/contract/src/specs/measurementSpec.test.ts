import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  decodeMeasurementSpec,
  measurementSpecViolations,
  type PlainSpec,
  specs,
  TYPE_URLS,
} from '../index.ts';

const KEY = Uint8Array.of(1, 2, 3);
const params = { epsilon: 0.1, delta: 1e-9 };

function binary(init: MessageInitShape<typeof specs.MeasurementSpecSchema>): Uint8Array {
  return toBinary(specs.MeasurementSpecSchema, create(specs.MeasurementSpecSchema, init));
}

const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));

function decoded(bytes: Uint8Array): PlainSpec {
  const result = decodeMeasurementSpec(bytes);
  if ('error' in result) throw new Error(result.error);
  return result.spec;
}

const errorOf = (bytes: Uint8Array) => (decodeMeasurementSpec(bytes) as { error: string }).error;

const fields = (spec: PlainSpec) => measurementSpecViolations(spec).map((v) => v.field);

const reachBinary = {
  measurementPublicKey: { typeUrl: TYPE_URLS.EncryptionPublicKey, value: KEY },
  nonceHashes: [Uint8Array.of(7)],
  vidSamplingInterval: { start: 0.25, width: 0.5 },
  modelLine: 'modelLines/m',
  measurementType: { case: 'reach' as const, value: { privacyParams: params } },
};

const reachJson = {
  measurementPublicKey: 'AQID',
  nonceHashes: ['Bw=='],
  vidSamplingInterval: { start: 0.25, width: 0.5 },
  modelLine: 'modelLines/m',
  reach: { privacyParams: params },
};

describe('decodeMeasurementSpec', () => {
  test('returns the same values for binary and JSON, except for the type URL of the key', () => {
    const plain = {
      measurementType: 'REACH',
      measurementPublicKey: { value: KEY },
      nonceHashes: [Uint8Array.of(7)],
      vidSamplingInterval: { start: 0.25, width: 0.5 },
      modelLine: 'modelLines/m',
      reach: { privacyParams: params },
    };
    expect(decoded(json(reachJson))).toEqual(plain);
    expect(decoded(binary(reachBinary))).toEqual({
      ...plain,
      measurementPublicKey: { typeUrl: TYPE_URLS.EncryptionPublicKey, value: KEY },
    });
  });

  test('accepts the key in the older field serializedMeasurementPublicKey', () => {
    const { measurementPublicKey, ...rest } = reachBinary;
    const spec = decoded(binary({ ...rest, serializedMeasurementPublicKey: KEY }));
    expect(spec.measurementPublicKey).toEqual({ value: KEY });
  });

  test.each([
    [
      'REACH_AND_FREQUENCY',
      {
        reachAndFrequency: {
          reachPrivacyParams: params,
          frequencyPrivacyParams: params,
          maximumFrequency: 10,
        },
      },
    ],
    ['IMPRESSION', { impression: { privacyParams: params, maximumFrequencyPerUser: 5 } }],
    ['POPULATION', { population: {} }],
  ] as const)('reads %s from binary and JSON', (measurementType, type) => {
    const [[name, value]] = Object.entries(type) as [[string, object]];
    const fromBinary = decoded(binary({ measurementType: { case: name, value } as never }));
    expect(fromBinary).toEqual({
      measurementType,
      nonceHashes: [],
      ...(measurementType !== 'POPULATION' && type),
    });
    expect(decoded(json(type))).toEqual(fromBinary);
  });

  test('reads DURATION from binary and JSON, in seconds', () => {
    const maximumWatchDurationPerUser = { seconds: 3n, nanos: 500_000_000 };
    const value = { privacyParams: params, maximumWatchDurationPerUser };
    const spec = decoded(binary({ measurementType: { case: 'duration', value } }));
    expect(spec).toEqual({
      measurementType: 'DURATION',
      nonceHashes: [],
      duration: { privacyParams: params, maximumWatchDurationPerUser: 3.5 },
    });
    expect(
      decoded(json({ duration: { privacyParams: params, maximumWatchDurationPerUser: '3.5s' } })),
    ).toEqual(spec);
  });

  test.each([
    ['empty bytes', new Uint8Array(), /no measurement type/],
    ['a spec without a measurement type', binary({ nonceHashes: [KEY] }), /no measurement type/],
    ['JSON without a measurement type', json({ measurementPublicKey: 'AQID' }), /no measurement type/],
    ['truncated bytes', binary(reachBinary).subarray(0, -1), /truncated/],
    ['a wrong wire type', Uint8Array.of(0x38, 0x01), /reach has wire type 0/],
    ['text that is not JSON', new TextEncoder().encode('{"reach":'), /ends too early/],
    ['JSON that is not UTF-8', Uint8Array.of(0x7b, 0xc3, 0x28, 0x7d), /not UTF-8/],
    ['an unknown member', json({ ...reachJson, spare: 1 }), /"spare" is unknown/],
    ['a nested unknown member', json({ reach: { privacyParams: { ...params, x: 1 } } }), /"x" is unknown/],
    ['two measurement types', json({ ...reachJson, population: {} }), /oneof/],
    ['a key that is not base64', json({ ...reachJson, measurementPublicKey: 'A' }), /measurement_public_key/],
    ['a number as text', json({ reach: { privacyParams: { epsilon: 'much' } } }), /epsilon/],
    ['a fractional frequency', json({ impression: { maximumFrequencyPerUser: 1.5 } }), /maximum_frequency/],
    ['a duration without its unit', json({ duration: { maximumWatchDurationPerUser: '3.5' } }), /"3.5s"/],
    [
      'a duration with trailing text',
      json({ duration: { maximumWatchDurationPerUser: '3s more' } }),
      /"3.5s"/,
    ],
    ['a duplicate member', new TextEncoder().encode('{"reach":{},"reach":{}}'), /twice|duplicate/i],
  ])('returns a specific error for %s', (_title, bytes, message) => {
    expect(errorOf(bytes)).toMatch(message);
  });

  test('returns an error that does not contain the invalid value', () => {
    const secret = 'x'.repeat(1000);
    const error = errorOf(json({ reach: { privacyParams: { epsilon: secret } } }));
    expect(error).toMatch(/epsilon/);
    expect(error).not.toContain('xxx');
  });

  test('does not throw for random bytes', () => {
    const start = fc.constantFrom([], [0x7b], [0x3a, 0x14], [...binary(reachBinary)]);
    fc.assert(
      fc.property(start, fc.uint8Array({ maxLength: 64 }), (prefix, tail) => {
        decodeMeasurementSpec(Uint8Array.from([...prefix, ...tail]));
      }),
      { numRuns: rounds(2_000) },
    );
  });
});

describe('measurementSpecViolations', () => {
  const good = decoded(binary(reachBinary));

  test('returns none for a valid spec of each type', () => {
    const common = { measurementPublicKey: { value: KEY }, nonceHashes: [] };
    const vidSamplingInterval = { start: 0, width: 1 };
    const sound: PlainSpec[] = [
      good,
      {
        ...common,
        vidSamplingInterval,
        measurementType: 'REACH_AND_FREQUENCY',
        reachAndFrequency: {
          reachPrivacyParams: params,
          frequencyPrivacyParams: params,
          maximumFrequency: 2,
        },
      },
      {
        ...common,
        measurementType: 'IMPRESSION',
        impression: { privacyParams: params, maximumFrequencyPerUser: 1 },
      },
      {
        ...common,
        measurementType: 'DURATION',
        duration: { privacyParams: params, maximumWatchDurationPerUser: 0.001 },
      },
      { ...common, measurementType: 'POPULATION' },
    ];
    expect(sound.flatMap((spec) => measurementSpecViolations(spec))).toEqual([]);
  });

  test.each([
    ['epsilon', 0],
    ['epsilon', -1],
    ['epsilon', Number.NaN],
    ['epsilon', Number.POSITIVE_INFINITY],
    ['delta', -1e-12],
    ['delta', 1],
    ['delta', Number.NaN],
  ])('rejects %s of %d', (name, value) => {
    const spec = { ...good, reach: { privacyParams: { ...params, [name]: value } } } as PlainSpec;
    expect(fields(spec)).toEqual([`reach.privacyParams.${name}`]);
  });

  test('accepts a delta of 0', () => {
    expect(fields({ ...good, reach: { privacyParams: { epsilon: 1, delta: 0 } } } as PlainSpec)).toEqual([]);
  });

  test.each([
    [0, 0, ['vidSamplingInterval.width']],
    [0, 1.01, ['vidSamplingInterval.width', 'vidSamplingInterval']],
    [0, Number.NaN, ['vidSamplingInterval.width']],
    [-0.1, 0.5, ['vidSamplingInterval.start']],
    [1.1, 0.5, ['vidSamplingInterval.start', 'vidSamplingInterval']],
    [0.6, 0.5, ['vidSamplingInterval']],
    [0, 1, []],
  ])('returns the invalid fields of a sampling interval from %d with width %d', (start, width, expected) => {
    expect(fields({ ...good, vidSamplingInterval: { start, width } })).toEqual(expected);
  });

  test('accepts a sampling interval beyond 1 only if the protocol lets it wrap', () => {
    const wrapping = { ...good, vidSamplingInterval: { start: 0.75, width: 0.5 } };
    expect(measurementSpecViolations(wrapping, 'honestMajorityShareShuffle')).toEqual([]);
    const [violation] = measurementSpecViolations(wrapping, 'liquidLegionsV2');
    expect(violation).toMatchObject({ field: 'vidSamplingInterval' });
    const wide = { ...good, vidSamplingInterval: { start: 0.75, width: 1.5 } };
    expect(measurementSpecViolations(wide, 'honestMajorityShareShuffle')).toMatchObject([
      { field: 'vidSamplingInterval.width' },
    ]);
  });

  test('accepts a start and a width that add up to 1 except for float rounding', () => {
    const spec = decoded(binary({ ...reachBinary, vidSamplingInterval: { start: 0.4, width: 0.6 } }));
    const { start, width } = spec.vidSamplingInterval!;
    expect(start + width).toBeGreaterThan(1);
    expect(fields(spec)).toEqual([]);
    expect(fields({ ...spec, vidSamplingInterval: { start: 0.40001, width: 0.6 } })).toEqual([
      'vidSamplingInterval',
    ]);
  });

  test('requires key, interval, both privacy parameters and two frequencies for reach and frequency', () => {
    const spec = decoded(json({ reachAndFrequency: { maximumFrequency: 1 } }));
    expect(fields(spec)).toEqual([
      'measurementPublicKey',
      'vidSamplingInterval',
      'reachAndFrequency.reachPrivacyParams',
      'reachAndFrequency.frequencyPrivacyParams',
      'reachAndFrequency.maximumFrequency',
    ]);
  });

  test('requires a cap above 0 for impressions and durations', () => {
    expect(
      fields(decoded(json({ measurementPublicKey: 'AQID', impression: { privacyParams: params } }))),
    ).toEqual(['impression.maximumFrequencyPerUser']);
    for (const maximumWatchDurationPerUser of [undefined, '0s', '-1s']) {
      const duration = { privacyParams: params, maximumWatchDurationPerUser };
      expect(fields(decoded(json({ measurementPublicKey: 'AQID', duration })))).toEqual([
        'duration.maximumWatchDurationPerUser',
      ]);
    }
  });

  test('rejects a duplicate nonce hash', () => {
    const hash = Uint8Array.of(1);
    expect(fields({ ...good, nonceHashes: [hash, Uint8Array.of(2), hash] })).toEqual(['nonceHashes[2]']);
  });

  test('rejects a key of another type', () => {
    const measurementPublicKey = { typeUrl: TYPE_URLS.SignedMessage, value: KEY };
    expect(fields({ ...good, measurementPublicKey })).toEqual(['measurementPublicKey.typeUrl']);
  });
});
