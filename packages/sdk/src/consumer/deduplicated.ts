/** The figures of a result that duchies computed: everybody is counted once, whichever data providers reached them. */
import type { PlainSpec, PrivacyParams, specs } from '@measurement-exchange/contract';
import type { AskedFrequency } from './duchyErrors.ts';
import { type Figures, FiguresFault, how, mechanismOf, required, sharesOf } from './figures.ts';
import type { DuchyProtocol } from './protocol.ts';
import { duchyErrors } from './protocols.ts';

/** Figures over all data providers, and the duchies that computed them. */
export interface DeduplicatedFigures extends Figures {
  /** The duchy that signed them. */
  aggregator: string;
  /** The duchies that computed them with it. */
  workers: string[];
}

/**
 * Reads them. The values and the noise mechanism are those that the aggregator signed, the privacy parameters and the
 * sampling interval those that this consumer signed. `protocolConfig` is the word of the exchange: it has to agree.
 */
export function deduplicatedFigures(
  spec: PlainSpec,
  result: specs.Measurement_Result,
  computed: DuchyProtocol,
): DeduplicatedFigures {
  const { reachPrivacy, frequency: askedFrequency } = askedOf(spec);
  const width = spec.vidSamplingInterval?.width ?? 1;
  const reach = required(result.reach, 'reach');
  requireProtocol(reach, computed);
  const errorsOf = duchyErrors(computed.protocol);
  const estimates = errorsOf(reach, reachPrivacy, width, computed.config as never);
  const people = Number(reach.value);
  if (!(people >= 0 && people <= estimates.maximum)) {
    const among = Number.isFinite(estimates.maximum) ? ` among ${estimates.maximum} people` : '';
    throw new FiguresFault('RESULT_MALFORMED', `it has a reach of ${reach.value}${among}`);
  }
  const { aggregator, workers } = computed;
  const figures = {
    reach: estimates.reach,
    ...how(reach),
    aggregator,
    workers,
  };
  if (askedFrequency === undefined) return figures;
  const frequency = required(result.frequency, 'frequency');
  requireProtocol(frequency, computed);
  const shares = sharesOf(frequency, askedFrequency.maximumFrequency);
  const each = estimates.atFrequencies(frequency, shares, askedFrequency);
  const { noiseMechanism, methodology } = how(frequency);
  return {
    ...figures,
    frequency: each.map((figures, i) => ({ frequency: i + 1, ...figures })),
    ...(noiseMechanism && { frequencyNoiseMechanism: noiseMechanism }),
    ...(methodology && { frequencyMethodology: methodology }),
  };
}

function askedOf(spec: PlainSpec): { reachPrivacy?: PrivacyParams | undefined; frequency?: AskedFrequency } {
  switch (spec.measurementType) {
    case 'REACH':
      return { reachPrivacy: spec.reach.privacyParams };
    case 'REACH_AND_FREQUENCY': {
      const { reachPrivacyParams, frequencyPrivacyParams, maximumFrequency } = spec.reachAndFrequency;
      return {
        reachPrivacy: reachPrivacyParams,
        frequency: { privacyParams: frequencyPrivacyParams, maximumFrequency },
      };
    }
    default:
      throw new FiguresFault('PROTOCOL_MISMATCH', `duchies do not compute ${spec.measurementType}`);
  }
}

/** It was computed as `protocolConfig` says. */
function requireProtocol(
  { methodology, noiseMechanism }: specs.Measurement_Result_Reach | specs.Measurement_Result_Frequency,
  { protocol, config }: DuchyProtocol,
): void {
  if (methodology.case !== protocol) {
    throw new FiguresFault(
      'PROTOCOL_MISMATCH',
      `it was computed by ${methodology.case ?? 'nothing that it names'}, not by ${protocol}`,
    );
  }
  const stated = mechanismOf(noiseMechanism);
  if (stated !== undefined && stated !== config.noiseMechanism) {
    throw new FiguresFault(
      'PROTOCOL_MISMATCH',
      `it has ${stated} noise, and protocolConfig says ${config.noiseMechanism}`,
    );
  }
}
