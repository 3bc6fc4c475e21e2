import type { Postgres } from '../world/postgres.ts';
import type { PlantedBug } from './plant.ts';

/** Removes the guards that would stop the bug. Returns the checks of the doctor that no longer count. */
export async function relax(postgres: Postgres, bug: PlantedBug | undefined): Promise<string[]> {
  const { statements = [], ignoredChecks = [] } = bug?.relax ?? {};
  // One by one: ALTER SYSTEM does not run in a transaction.
  for (const statement of statements) await postgres.query(statement);
  return ignoredChecks;
}
