/** Runs the operations with which a duchy changes a computation. */
import type { Computation, Finding, Operation } from '@measurement-exchange/contract';
import { type ComputationRecord, lockComputation } from '../../database/computations.ts';
import type { Transaction } from '../../database/db.ts';
import { saveMeasurements } from '../../database/writeMeasurements.ts';
import { partyName } from '../../domain/access.ts';
import type { Change, MeasurementWithResult } from '../../domain/aggregate.ts';
import { requireFound } from '../../domain/found.ts';
import { authorOf, type Call, type Exchange } from '../context.ts';
import { mutate } from '../mutate.ts';
import { viewComputation } from './view.ts';

interface ComputationRequest {
  params: { duchy: string; computation: string };
  path: string;
  validateOnly: boolean;
}

type Before = ComputationRecord<MeasurementWithResult>['aggregate'];

interface Decided {
  change: Change<Before>;
  findings?: Finding[];
}

/**
 * Locks the computation and changes it as `decide` says. Sends the queries in `prepare` together with the lock, and
 * passes their results to `decide`.
 */
export function changeComputation<Prepared>(
  operation: Operation,
  exchange: Exchange,
  call: Call,
  request: ComputationRequest,
  prepare: (tx: Transaction) => Promise<Prepared>,
  decide: (before: Before, duchy: string, prepared: Prepared) => Decided | Promise<Decided>,
): Promise<Computation> {
  const duchy = partyName('duchy', request.params.duchy);
  return mutate(operation, exchange, call, request, async (tx) => {
    const [found, prepared] = await Promise.all([
      lockComputation(tx, duchy, request.params.computation),
      prepare(tx),
    ]);
    const computation = requireFound(found, 'COMPUTATION_NOT_FOUND', request.path);
    const { aggregate: before, requisitionSpecHashes } = computation;
    const { change, findings = [] } = await decide(before, duchy, prepared);
    const view = () => viewComputation({ aggregate: change.after, requisitionSpecHashes }, duchy);
    // A repeated request changes nothing. Omit its findings, because the exchange already enforced them for the first
    // request.
    if (change.steps.length === 0) return { view };
    return { findings, save: () => saveMeasurements(tx, [{ before, change }], authorOf(call)), view };
  });
}
