import type { Postgres } from '../world/postgres.ts';
import type { PlantedBug } from './plant.ts';

/** Removes the guards that would stop the bug. Returns the doctor's checks that must be ignored. */
export async function relax(postgres: Postgres, bug: PlantedBug | undefined): Promise<string[]> {
  const { statements = [], ignoredChecks = [] } = bug?.relax ?? {};
  // The statements run one by one, because ALTER SYSTEM cannot run in a transaction.
  for (const statement of statements) await postgres.query(statement);
  return ignoredChecks;
}
