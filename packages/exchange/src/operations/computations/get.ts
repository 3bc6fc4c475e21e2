import { getComputation as get } from '../../database/computations.ts';
import { partyName } from '../../domain/access.ts';
import { requireFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { viewComputation } from './view.ts';

export const getComputation: Handler<'getComputation'> = async (exchange, _call, { params, path }) => {
  const duchy = partyName('duchy', params.duchy);
  const found = await get(exchange.db, duchy, params.computation);
  return viewComputation(requireFound(found, 'COMPUTATION_NOT_FOUND', path), duchy);
};
