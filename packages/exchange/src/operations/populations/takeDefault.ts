import type { Timestamp } from '@measurement-exchange/contract';
import type { Transaction } from '../../database/db.ts';
import { savePopulation } from '../../database/populations.ts';
import { noLongerDefault, type PopulationRecord, populationName } from '../../domain/population.ts';
import type { Version } from '../mutate.ts';

/**
 * Returns a write for a request that makes `population` the default. The write makes the current default an ordinary
 * population, because only one population can be the default.
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
