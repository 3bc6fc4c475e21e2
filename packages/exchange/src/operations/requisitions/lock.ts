import type { Transaction } from '../../database/db.ts';
import { type AggregateOfRequisition, lockByRequisition } from '../../database/measurements.ts';
import { getRequisitionTombstone } from '../../database/retention.ts';
import { requireFound } from '../../domain/found.ts';
import { requisitionClosed } from '../../domain/measurement.ts';

export async function lockRequisition(
  tx: Transaction,
  provider: string,
  id: string,
): Promise<AggregateOfRequisition> {
  const aggregate = await lockByRequisition(tx, provider, id);
  if (aggregate !== undefined) return aggregate;
  const name = `${provider}/requisitions/${id}`;
  const tombstone = await getRequisitionTombstone(tx, { provider }, id);
  throw requisitionClosed(name, requireFound(tombstone, 'REQUISITION_NOT_FOUND', name).state);
}
