import { describeProgress, invalid, isStageName, STAGE_RULE } from '@measurement-exchange/contract';
import { insertProgress, lockComputation } from '../../database/computations.ts';
import { partyName } from '../../domain/access.ts';
import { requireOpenComputation, requirePosition } from '../../domain/computation.ts';
import { requireFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { viewComputation } from './view.ts';

/**
 * Stores a progress report, but creates no new version of the computation. The report needs no audit entry, because it
 * records its own author and time.
 */
export const logComputation: Handler<'logComputation'> = async (exchange, call, request) => {
  const { params, path, body } = request;
  const { code, position, stage, attempt, progress } = body;
  if (progress !== undefined && !(progress >= 0 && progress <= 1)) {
    throw invalid([{ field: 'progress', description: 'must be from 0 to 1' }]);
  }
  if (!isStageName(stage)) throw invalid([{ field: 'stage', description: STAGE_RULE }]);
  const duchy = partyName('duchy', params.duchy);
  return mutate('logComputation', exchange, call, request, async (tx) => {
    const locked = await lockComputation(tx, duchy, params.computation);
    const found = requireFound(locked, 'COMPUTATION_NOT_FOUND', path);
    requireOpenComputation(found.aggregate, duchy);
    requirePosition(found.aggregate, position);
    const message = describeProgress(code, position);
    const computation = params.computation;
    const report = { computation, duchy, time: exchange.clock(), stage, attempt, message, progress };
    return {
      save: () => insertProgress(tx, report),
      view: () => viewComputation(found, duchy),
    };
  });
};
