import type { Transaction } from '../../database/db.ts';
import { lockByRequisition } from '../../database/measurements.ts';
import { getRequisitionTombstone } from '../../database/retention.ts';
import type { Aggregate } from '../../domain/aggregate.ts';
import { requisitionClosed } from '../../domain/measurement.ts';
import { requisitionNotFound } from './view.ts';

/** Locks the measurement of a requisition; of one that was removed only the final state is left. */
export async function lockRequisition(tx: Transaction, provider: string, id: string): Promise<Aggregate> {
  const aggregate = await lockByRequisition(tx, provider, id);
  if (aggregate !== undefined) return aggregate;
  const name = `${provider}/requisitions/${id}`;
  const tombstone = await getRequisitionTombstone(tx, { provider }, id);
  throw tombstone === undefined ? requisitionNotFound(name) : requisitionClosed(name, tombstone.state);
}
