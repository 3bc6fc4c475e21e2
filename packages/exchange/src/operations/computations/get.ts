import { getComputation as get } from '../../database/computations.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { computationNotFound, viewComputation } from './view.ts';

export const getComputation: Handler<'getComputation'> = async (exchange, _call, { params, path }) => {
  const duchy = partyName('duchy', params.duchy);
  const found = await get(exchange.db, duchy, params.computation);
  if (found === undefined) throw computationNotFound(path);
  return viewComputation(found, duchy);
};
