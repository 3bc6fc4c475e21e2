import type { Transaction } from '../../database/db.ts';
import { type AggregateOfRequisition, lockByRequisition } from '../../database/measurements.ts';
import { getRequisitionTombstone } from '../../database/retention.ts';
import { requisitionClosed } from '../../domain/measurement.ts';
import { requisitionNotFound } from './view.ts';

/** Locks the measurement of a requisition; a removed requisition has only its final state left. */
export async function lockRequisition(
  tx: Transaction,
  provider: string,
  id: string,
): Promise<AggregateOfRequisition> {
  const aggregate = await lockByRequisition(tx, provider, id);
  if (aggregate !== undefined) return aggregate;
  const name = `${provider}/requisitions/${id}`;
  const tombstone = await getRequisitionTombstone(tx, { provider }, id);
  throw tombstone === undefined ? requisitionNotFound(name) : requisitionClosed(name, tombstone.state);
}
