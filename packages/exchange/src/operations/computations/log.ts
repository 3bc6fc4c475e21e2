import { type Computation, invalid, type RequestOf } from '@measurement-exchange/contract';
import { insertProgress, lockComputation } from '../../database/computations.ts';
import { partyName } from '../../domain/access.ts';
import { requireOpenComputation } from '../../domain/computation.ts';
import type { Call, Exchange } from '../context.ts';
import { mutate } from '../mutate.ts';
import { requireFound } from './change.ts';
import { viewComputation } from './view.ts';

/** The report is a record of who did what and when by itself: it needs no audit entry, and makes no version. */
export async function logComputation(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'logComputation'>,
): Promise<Computation> {
  const { params, path, body } = request;
  const { progress = 0 } = body;
  if (progress < 0 || progress > 1) {
    throw invalid([{ field: 'progress', description: 'must be from 0 to 1' }]);
  }
  const duchy = partyName('duchy', params.duchy);
  return mutate('logComputation', exchange, call, request, async (tx) => {
    const found = requireFound(await lockComputation(tx, duchy, params.computation), path);
    requireOpenComputation(found.aggregate, duchy);
    const report = { computation: params.computation, duchy, time: exchange.clock(), ...body };
    return {
      save: () => insertProgress(tx, report),
      view: () => viewComputation(found, duchy),
    };
  });
}
