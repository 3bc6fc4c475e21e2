import { create, toBinary } from '@bufbuild/protobuf';
import { specs } from '@measurement-exchange/contract';
import { rounds } from '@measurement-exchange/testkit/rounds';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { parseResult } from './result.ts';

const json = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const { CONTINUOUS_LAPLACE, DISCRETE_GAUSSIAN, GEOMETRIC, NOISE_MECHANISM_UNSPECIFIED } =
  specs.ProtocolConfig_NoiseMechanism;

it('parseResult returns the message of a protobuf result', () => {
  const message = create(specs.Measurement_ResultSchema, {
    reach: {
      value: 2n ** 60n,
      noiseMechanism: DISCRETE_GAUSSIAN,
      methodology: { case: 'deterministicCountDistinct', value: {} },
    },
    frequency: { relativeFrequencyDistribution: { '1': 0.25, '10': 0.75 } },
  });
  expect(parseResult(toBinary(specs.Measurement_ResultSchema, message))).toEqual(message);
});

it('parseResult accepts the JSON form with LAPLACE and a numeric variance', () => {
  const { reach, frequency } = parseResult(
    json({
      reach: { value: 1000, noiseMechanism: 'LAPLACE', customDirectMethodology: { variance: 12.5 } },
      frequency: { relativeFrequencyDistribution: { '1': 0.5, '2': 0.5 }, noiseMechanism: 'GEOMETRIC' },
    }),
  );
  expect(reach).toMatchObject({
    value: 1000n,
    noiseMechanism: CONTINUOUS_LAPLACE,
    methodology: {
      case: 'customDirectMethodology',
      value: { variance: { type: { case: 'scalar', value: 12.5 } } },
    },
  });
  expect(frequency).toMatchObject({
    relativeFrequencyDistribution: { '1': 0.5, '2': 0.5 },
    noiseMechanism: GEOMETRIC,
  });
});

it('parseResult accepts the JSON of protobuf with integers beyond 53 bits', () => {
  const bytes = new TextEncoder().encode(
    '{"impression": {"value": 9007199254740993, "deterministicCount": {}},' +
      '"watchDuration": {"value": "3.500s"},' +
      '"reach": {"custom_direct_methodology": {"variance": {"scalar": 4}}, "noise_mechanism": "GEOMETRIC"}}',
  );
  const { impression, watchDuration, reach } = parseResult(bytes);
  expect(impression).toMatchObject({ value: 9007199254740993n, methodology: { case: 'deterministicCount' } });
  expect(watchDuration!.value).toMatchObject({ seconds: 3n, nanos: 500_000_000 });
  expect(reach!.methodology.value).toMatchObject({ variance: { type: { value: 4 } } });
  expect(reach!.noiseMechanism).toBe(GEOMETRIC);
});

it('parseResult omits unknown noise mechanisms and methodologies', () => {
  const { reach } = parseResult(
    json({ reach: { value: 5, noiseMechanism: 'MAGIC', oracle: { of: 'Delphi' } } }),
  );
  expect(reach).toMatchObject({ value: 5n, noiseMechanism: NOISE_MECHANISM_UNSPECIFIED });
  expect(reach!.methodology.case).toBeUndefined();
});

it.each([
  ['a fractional value', { reach: { value: 0.5 } }],
  ['a value that is not a number', { reach: { value: 'many' } }],
  ['two methodologies', { reach: { value: 1, liquidLegionsV2: {}, deterministicCountDistinct: {} } }],
  ['a share that is not a number', { frequency: { relativeFrequencyDistribution: { '1': 'half' } } }],
])('parseResult throws for %s', (_what, value) => {
  expect(() => parseResult(json(value))).toThrow();
});

it('parseResult returns a result or throws an Error for any bytes', () => {
  const start = fc.constantFrom([], [0x7b], [0x0a], [0x12, 0x04]);
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 60 }), (head, tail) => {
      try {
        parseResult(Uint8Array.of(...head, ...tail));
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
    { numRuns: rounds(500) },
  );
});
