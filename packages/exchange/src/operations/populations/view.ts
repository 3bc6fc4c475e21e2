import type { Population } from '@measurement-exchange/contract';
import { type PopulationRecord, populationName } from '../../domain/population.ts';

export function viewPopulation({
  id,
  isDefault,
  version: _version,
  subpopulations,
  ...population
}: PopulationRecord): Population {
  return {
    name: populationName(id),
    ...population,
    ...(subpopulations.length > 0 && { subpopulations }),
    default: isDefault,
  };
}
