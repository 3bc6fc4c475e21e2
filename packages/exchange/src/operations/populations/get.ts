import { getPopulation as get } from '../../database/populations.ts';
import { populationNotFound } from '../../domain/population.ts';
import type { Handler } from '../context.ts';
import { viewPopulation } from './view.ts';

export const getPopulation: Handler<'getPopulation'> = async (exchange, _call, { params }) => {
  const found = await get(exchange.db, params.population);
  if (found === undefined) throw populationNotFound(params.population);
  return viewPopulation(found);
};
