/** Lists values in a MeasurementSpec that are invalid, or whose epsilon is below the provider's minimum. */
import { privacy, type SpecInit, type Spoiled, type SpoiledRow, text } from './requisitions.ts';

const reach = (epsilon: number, delta?: number): SpecInit => ({
  measurementType: { case: 'reach', value: privacy(epsilon, delta) },
});

export const SPOILED_VALUES: SpoiledRow[] = [
  [
    'the MeasurementSpec cannot be decoded',
    'SPEC_INVALID',
    'cannot be read',
    () => ({ spec: Uint8Array.of(0x12, 0xff) }),
  ],
  [
    'the MeasurementSpec is truncated JSON',
    'SPEC_INVALID',
    'cannot be read',
    () => ({ spec: text({}).slice(0, 1) }),
  ],
  [
    'no measurement type is set',
    'SPEC_INVALID',
    'no measurement type',
    () => ({
      spec: { measurementType: { case: undefined } },
    }),
  ],
  ['epsilon is zero', 'SPEC_INVALID', 'reach.privacyParams.epsilon', () => ({ spec: reach(0) })],
  ['epsilon is not a number', 'SPEC_INVALID', 'epsilon', () => ({ spec: reach(Number.NaN) })],
  [
    'epsilon is 1e-9',
    'SPEC_INVALID',
    'epsilon of the MeasurementSpec must be',
    () => ({ spec: reach(1e-9) }),
  ],
  [
    'epsilon is below the minimumEpsilon of the provider',
    'DECLINED',
    'reach.privacyParams.epsilon is 0.249',
    () => ({ spec: reach(0.249), context: { minimumEpsilon: 0.25 } }),
  ],
  [
    'epsilon is below the default minimumEpsilon',
    'DECLINED',
    'minimumEpsilon of this provider is 0.0001',
    () => ({ spec: reach(0.00009) }),
  ],
  [
    'only the epsilon of the reach is below minimumEpsilon',
    'DECLINED',
    'reachAndFrequency.reachPrivacyParams.epsilon is 0.2',
    () => ({ ...frequency(5, 0.2, 0.3), context: { minimumEpsilon: 0.25 } }),
  ],
  [
    'only the epsilon of the frequency is below minimumEpsilon',
    'DECLINED',
    'reachAndFrequency.frequencyPrivacyParams.epsilon is 0.2',
    () => ({ ...frequency(5, 0.3, 0.2), context: { minimumEpsilon: 0.25 } }),
  ],
  ['epsilon is 1e9', 'SPEC_INVALID', 'epsilon of the MeasurementSpec must be', () => ({ spec: reach(1e9) })],
  [
    'delta is 1e-300',
    'SPEC_INVALID',
    'delta of the MeasurementSpec must be',
    () => ({ spec: reach(1, 1e-300) }),
  ],
  ['delta is one', 'SPEC_INVALID', 'delta', () => ({ spec: reach(1, 1) })],
  [
    'privacy parameters are missing',
    'SPEC_INVALID',
    'privacyParams',
    () => ({
      spec: { measurementType: { case: 'reach', value: {} } },
    }),
  ],
  [
    'the sampling interval ends after 1',
    'SPEC_INVALID',
    'start + width',
    () => ({
      spec: { vidSamplingInterval: { start: 0.75, width: 0.5 } },
    }),
  ],
  [
    'the sampling interval is missing',
    'SPEC_INVALID',
    'vidSamplingInterval',
    () => ({
      spec: { vidSamplingInterval: undefined },
    }),
  ],
  [
    'the sampling interval is too narrow',
    'SPEC_INVALID',
    'vidSamplingInterval.width',
    () => ({
      spec: { vidSamplingInterval: { start: 0, width: 1e-9 } },
    }),
  ],
  ['the maximum frequency is 1', 'SPEC_INVALID', 'maximumFrequency', () => frequency(1)],
  ['the maximum frequency is a million', 'SPEC_INVALID', 'maximumFrequency', () => frequency(1_000_000)],
  [
    'maximumFrequencyPerUser is 0',
    'SPEC_INVALID',
    'maximumFrequencyPerUser',
    () => ({
      spec: { measurementType: { case: 'impression', value: { ...privacy(1), maximumFrequencyPerUser: 0 } } },
    }),
  ],
  [
    'maximumWatchDurationPerUser is less than a millisecond',
    'SPEC_INVALID',
    'maximumWatchDurationPerUser',
    () => ({
      spec: {
        measurementType: {
          case: 'duration',
          value: { ...privacy(1), maximumWatchDurationPerUser: { seconds: 0n, nanos: 999_999 } },
        },
      },
    }),
  ],
];

function frequency(maximumFrequency: number, reached = 1, frequencies = 1): Spoiled {
  const params = (epsilon: number) => ({ epsilon, delta: 1e-9 });
  const value = {
    reachPrivacyParams: params(reached),
    frequencyPrivacyParams: params(frequencies),
    maximumFrequency,
  };
  return { spec: { measurementType: { case: 'reachAndFrequency', value } } };
}
