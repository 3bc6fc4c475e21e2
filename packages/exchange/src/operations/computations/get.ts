import type { Computation, RequestOf } from '@measurement-exchange/contract';
import { getComputation as get } from '../../database/computations.ts';
import { partyName } from '../../domain/access.ts';
import type { Call, Exchange } from '../context.ts';
import { computationNotFound, viewComputation } from './view.ts';

export async function getComputation(
  exchange: Exchange,
  _call: Call,
  { params, path }: RequestOf<'getComputation'>,
): Promise<Computation> {
  const duchy = partyName('duchy', params.duchy);
  const found = await get(exchange.db, duchy, params.computation);
  if (found === undefined) throw computationNotFound(path);
  return viewComputation(found, duchy);
}
