import type { Timestamp } from '@measurement-exchange/contract';
import type { Transaction } from '../../database/db.ts';
import { savePopulation } from '../../database/populations.ts';
import { noLongerDefault, type PopulationRecord, populationName } from '../../domain/population.ts';
import type { Version } from '../mutate.ts';

/**
 * Ensures that only one population is the default. If `population` is the new default, `save` in the result turns the
 * current default into an ordinary population. Otherwise, `save` does nothing.
 */
export function takeDefault(
  population: PopulationRecord,
  current: PopulationRecord | undefined,
  now: Timestamp,
): { save: (tx: Transaction) => void; versions: Version[] } {
  if (!population.isDefault || current === undefined || current.id === population.id) {
    return { save: () => {}, versions: [] };
  }
  const former = noLongerDefault(current, now);
  return {
    save: (tx) => savePopulation(tx, former),
    versions: [{ name: populationName(former.id), version: former.version, time: former.updateTime }],
  };
}
