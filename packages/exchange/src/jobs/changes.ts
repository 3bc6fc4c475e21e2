/** Removes old changes from the log in small batches, one party at a time. */
import { findOldChanges, removeChanges } from '../database/changes.ts';
import { hoursBefore } from '../domain/time.ts';
import type { Exchange } from '../operations/context.ts';

const PARTIES = 100;
const BATCH = 1_000;

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
  // If there are old changes but nothing was removed, a long-running transaction prevents the removal. An immediate
  // retry would not help, so return false.
  return more && removed > 0;
}
