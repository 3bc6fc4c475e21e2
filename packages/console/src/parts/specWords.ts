/** Describes a MeasurementSpec. The exchange and all parties of the measurement can read the spec. */
import { decodeMeasurementSpec, type PlainSpec, type PrivacyParams } from '@measurement-exchange/contract';
import { privacyText } from '../format.ts';

export interface SpecWords {
  /** The subject of the measurement, such as `Reach and frequency up to 10+`. */
  what: string;
  /** Labels such as `Privacy of the reach`, with the parameters as values. */
  facts: [label: string, value: string][];
}

export function specWords(message: Uint8Array | undefined): SpecWords | undefined {
  if (message === undefined) return undefined;
  const decoded = decodeMeasurementSpec(message);
  if ('error' in decoded) return { what: 'Cannot be read', facts: [['Specification', decoded.error]] };
  const { spec } = decoded;
  const { what, facts } = typeWords(spec);
  const { start, width } = spec.vidSamplingInterval ?? { start: 0, width: 1 };
  if (width < 1)
    facts.push(['Sample', `${short(width * 100)} % of the people, from ${short(start * 100)} %`]);
  if (spec.modelLine !== undefined) facts.push(['Model line', spec.modelLine]);
  return { what, facts };
}

function typeWords(spec: PlainSpec): SpecWords {
  switch (spec.measurementType) {
    case 'REACH':
      return { what: 'Reach', facts: [['Privacy', privacy(spec.reach.privacyParams)]] };
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
      return {
        what: `Reach and frequency up to ${maximumFrequency}+`,
        facts: [
          ['Privacy of the reach', privacy(reachPrivacyParams)],
          ['Privacy of the frequencies', privacy(frequencyPrivacyParams)],
        ],
      };
    }
    case 'IMPRESSION': {
      const { privacyParams, maximumFrequencyPerUser } = spec.impression;
      return {
        what: 'Impressions',
        facts: [
          ['Privacy', privacy(privacyParams)],
          ['For each person', `at most ${maximumFrequencyPerUser} impressions count`],
        ],
      };
    }
    case 'DURATION': {
      const { privacyParams, maximumWatchDurationPerUser = 0 } = spec.duration;
      return {
        what: 'Watch duration',
        facts: [
          ['Privacy', privacy(privacyParams)],
          ['For each person', `at most ${maximumWatchDurationPerUser} s count`],
        ],
      };
    }
    case 'POPULATION':
      return { what: 'Size of the population', facts: [] };
  }
}

const privacy = (params: PrivacyParams | undefined) => (params && privacyText(params)) || 'none';

/**
 * Rounds to 6 significant digits. Sampling bounds are 32-bit floats, so the page would otherwise show 0.10000000149 for
 * 0.1.
 */
const short = (value: number) => String(Number(value.toPrecision(6)));
