/** The setting that tells data providers how they are allowed to compute the results of direct measurements. */
import type { MeasurementType } from '@measurement-exchange/contract';
import { array, enumOf, object, type Static } from '@measurement-exchange/contract/schema';

const NOISE_MECHANISMS = [
  ...(['NONE', 'GEOMETRIC', 'DISCRETE_GAUSSIAN'] as const),
  ...(['CONTINUOUS_LAPLACE', 'CONTINUOUS_GAUSSIAN'] as const),
];
const ALL_METHODOLOGIES = [
  ...(['customDirectMethodology', 'deterministicCountDistinct', 'deterministicDistribution'] as const),
  ...(['deterministicCount', 'deterministicSum'] as const),
  ...(['liquidLegionsCountDistinct', 'liquidLegionsDistribution'] as const),
];
type Methodology = (typeof ALL_METHODOLOGIES)[number];

export const DirectProtocol = object({
  noiseMechanisms: array(enumOf(NOISE_MECHANISMS)),
  methodologies: array(enumOf(ALL_METHODOLOGIES)),
});
export type DirectProtocol = Static<typeof DirectProtocol>;

/**
 * The default excludes results without noise, because such results give no privacy. An operator must allow them
 * explicitly.
 */
export const DEFAULT_DIRECT: DirectProtocol = {
  noiseMechanisms: NOISE_MECHANISMS.filter((mechanism) => mechanism !== 'NONE'),
  methodologies: [...ALL_METHODOLOGIES],
};

const OF_REACH: Methodology[] = [
  'customDirectMethodology',
  'deterministicCountDistinct',
  'liquidLegionsCountDistinct',
];
/** The methodologies that can compute each type of measurement. */
export const METHODOLOGIES: Record<MeasurementType, Methodology[]> = {
  REACH: OF_REACH,
  REACH_AND_FREQUENCY: [...OF_REACH, 'deterministicDistribution', 'liquidLegionsDistribution'],
  IMPRESSION: ['customDirectMethodology', 'deterministicCount'],
  DURATION: ['customDirectMethodology', 'deterministicSum'],
  POPULATION: ['deterministicCount'],
};
