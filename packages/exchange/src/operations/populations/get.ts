import type { Population, RequestOf } from '@measurement-exchange/contract';
import { getPopulation as get } from '../../database/populations.ts';
import { populationNotFound } from '../../domain/population.ts';
import type { Call, Exchange } from '../context.ts';
import { viewPopulation } from './view.ts';

export async function getPopulation(
  exchange: Exchange,
  _call: Call,
  { params }: RequestOf<'getPopulation'>,
): Promise<Population> {
  const found = await get(exchange.db, params.population);
  if (found === undefined) throw populationNotFound(params.population);
  return viewPopulation(found);
}
