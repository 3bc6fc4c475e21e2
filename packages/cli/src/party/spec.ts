/** Describes a measurement, based on the signed bytes of its MeasurementSpec, and lists its duchies. */
import {
  decodeMeasurementSpec,
  type Measurement,
  type PlainSpec,
  type PrivacyParams,
} from '@measurement-exchange/contract';
import { duchyProtocolOf, TYPE_WORDS } from '@measurement-exchange/sdk';

export function typeWords(type: PlainSpec['measurementType'] | undefined): string {
  return type === undefined ? 'unknown' : TYPE_WORDS[type];
}

/** Returns the duchies that compute a measurement, with the aggregator first. Returns [] for a direct measurement. */
export function duchiesOf(protocolConfig: Measurement['protocolConfig']): string[] {
  const computed = duchyProtocolOf(protocolConfig);
  return computed === undefined ? [] : [computed.aggregator, ...computed.workers];
}

export function specFacts(message: Uint8Array | undefined): Record<string, string | undefined> {
  if (message === undefined) return {};
  const decoded = decodeMeasurementSpec(message);
  if ('error' in decoded) return { specification: `cannot be read: ${decoded.error}` };
  const { spec } = decoded;
  const { start, width } = spec.vidSamplingInterval ?? { start: 0, width: 1 };
  return {
    measures: typeWords(spec.measurementType),
    ...parameters(spec),
    sampling: width === 1 ? undefined : `${short(width * 100)} % of the people, from ${short(start)}`,
    'model line': spec.modelLine,
  };
}

function parameters(spec: PlainSpec): Record<string, string | undefined> {
  switch (spec.measurementType) {
    case 'REACH':
      return { privacy: privacy(spec.reach.privacyParams) };
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
      return {
        privacy: `reach ${privacy(reachPrivacyParams)}; frequency ${privacy(frequencyPrivacyParams)}`,
        'up to': `${maximumFrequency} times and more`,
      };
    }
    case 'IMPRESSION': {
      const { privacyParams, maximumFrequencyPerUser } = spec.impression;
      return {
        privacy: privacy(privacyParams),
        'per person': `${maximumFrequencyPerUser} impressions at most`,
      };
    }
    case 'DURATION': {
      const { privacyParams, maximumWatchDurationPerUser } = spec.duration;
      return {
        privacy: privacy(privacyParams),
        'per person': `${maximumWatchDurationPerUser ?? 0} s at most`,
      };
    }
    case 'POPULATION':
      return {};
  }
}

function privacy(params: PrivacyParams | undefined): string {
  return params === undefined ? 'none' : `epsilon ${params.epsilon}, delta ${params.delta}`;
}

/** Rounds to 6 significant digits. Sampling bounds are 32-bit floats, so 0.1 would otherwise print as 0.10000000149. */
function short(value: number): string {
  return String(Number(value.toPrecision(6)));
}
