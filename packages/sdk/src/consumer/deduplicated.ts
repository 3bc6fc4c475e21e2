/**
 * Reads the figures in a result that duchies computed. A person reached by several data providers is counted only once.
 */
import type { PlainSpec, PrivacyParams, specs } from '@measurement-exchange/contract';
import {
  type AskedFrequency,
  type Figures,
  FiguresFault,
  how,
  mechanismOf,
  required,
  sharesOf,
} from './figures.ts';
import type { DuchyProtocol } from './protocol.ts';
import { DUCHY_ERRORS } from './protocols.ts';

/** Figures for all data providers together, and the duchies that computed them. */
export interface DeduplicatedFigures extends Figures {
  /** The duchy that signed the figures. */
  aggregator: string;
  /** The other duchies in the computation. */
  workers: string[];
}

/**
 * Reads the figures, and estimates their errors. The aggregator signed the values and the noise mechanism, and this
 * consumer signed the privacy parameters and the sampling interval. Nobody signed `protocolConfig`, which comes from
 * the exchange, so it must agree with the result.
 */
export function deduplicatedFigures(
  spec: PlainSpec,
  result: specs.Measurement_Result,
  computed: DuchyProtocol,
): DeduplicatedFigures {
  const asked = askedOf(spec);
  const width = spec.vidSamplingInterval?.width ?? 1;
  const reach = required(result.reach, 'reach');
  requireProtocol(reach, computed);
  const errorsOf = DUCHY_ERRORS[computed.protocol];
  const estimates = errorsOf(reach, asked.reachPrivacyParams, width, computed.config as never);
  const people = Number(reach.value);
  if (!(people >= 0 && people <= estimates.maximum)) {
    const among = Number.isFinite(estimates.maximum) ? ` among ${estimates.maximum} people` : '';
    throw new FiguresFault('RESULT_MALFORMED', `it has a reach of ${reach.value}${among}`);
  }
  const { aggregator, workers } = computed;
  const figures = { reach: estimates.reach, ...how(reach), aggregator, workers };
  if (asked.maximumFrequency === undefined) return figures;
  const frequency = required(result.frequency, 'frequency');
  requireProtocol(frequency, computed);
  const shares = sharesOf(frequency, asked.maximumFrequency);
  const each = estimates.atFrequencies(frequency, shares, asked);
  const { noiseMechanism, methodology } = how(frequency);
  return {
    ...figures,
    frequency: each.map((figures, i) => ({ frequency: i + 1, ...figures })),
    ...(noiseMechanism && { frequencyNoiseMechanism: noiseMechanism }),
    ...(methodology && { frequencyMethodology: methodology }),
  };
}

/** Returns the parameters of the request. `maximumFrequency` is absent if only the reach was requested. */
function askedOf(
  spec: PlainSpec,
): AskedFrequency | { reachPrivacyParams: PrivacyParams | undefined; maximumFrequency?: never } {
  switch (spec.measurementType) {
    case 'REACH':
      return { reachPrivacyParams: spec.reach.privacyParams };
    case 'REACH_AND_FREQUENCY':
      return spec.reachAndFrequency;
    default:
      throw new FiguresFault('PROTOCOL_MISMATCH', `duchies do not compute ${spec.measurementType}`);
  }
}

/** Throws if the result states a different protocol or noise mechanism than `protocolConfig`. */
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
