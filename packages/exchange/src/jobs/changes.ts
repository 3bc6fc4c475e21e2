/** The log of changes is kept for a while: what is older is removed, party by party in small batches. */
import { findOldChanges, removeChanges } from '../database/changes.ts';
import { hoursBefore } from '../domain/time.ts';
import type { Exchange } from '../operations/context.ts';

const PARTIES = 100;
const BATCH = 1_000;

/** True while there may be more. */
export async function removeOldChanges(
  { db, clock }: Pick<Exchange, 'db' | 'clock'>,
  keepDays: number,
): Promise<boolean> {
  const before = hoursBefore(clock(), keepDays * 24);
  const parties = await findOldChanges(db, before, PARTIES);
  let removed = 0;
  let more = parties.length === PARTIES;
  for (const party of parties) {
    const count = await removeChanges(db, party, before, BATCH);
    removed += count;
    more ||= count === BATCH;
  }
  // Where transactions hold the horizon back, nothing can be removed yet.
  return more && removed > 0;
}
