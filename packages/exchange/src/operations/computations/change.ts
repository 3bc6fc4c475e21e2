/** The frame of everything that a participant does to its computation. */
import type { Computation, Finding, Operation } from '@measurement-exchange/contract';
import { type ComputationRecord, lockComputation } from '../../database/computations.ts';
import type { Transaction } from '../../database/db.ts';
import { saveMeasurement } from '../../database/writeMeasurements.ts';
import { partyName } from '../../domain/access.ts';
import type { Change, MeasurementRecord } from '../../domain/aggregate.ts';
import { authorOf, type Call, type Exchange } from '../context.ts';
import { mutate } from '../mutate.ts';
import { computationNotFound, viewComputation } from './view.ts';

interface ComputationRequest {
  params: { duchy: string; computation: string };
  path: string;
  validateOnly: boolean;
}

type Before = ComputationRecord<MeasurementRecord>['aggregate'];

interface Decided {
  change: Change<Before>;
  findings?: Finding[];
}

/** The queries of `prepare` are sent together with the lock; `decide` gets their results with the locked aggregate. */
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
    const { aggregate: before, requisitionSpecHashes } = requireFound(found, request.path);
    const { change, findings = [] } = await decide(before, duchy, prepared);
    const view = () => viewComputation({ aggregate: change.after, requisitionSpecHashes }, duchy);
    // The same was done before, and judged then.
    if (change.steps.length === 0) return { view };
    return { findings, save: () => saveMeasurement(tx, before, change, authorOf(call)), view };
  });
}

/** `path` is the name of the computation as it was requested. */
export function requireFound<C extends ComputationRecord>(found: C | undefined, path: string): C {
  if (found === undefined) throw computationNotFound(path);
  return found;
}
