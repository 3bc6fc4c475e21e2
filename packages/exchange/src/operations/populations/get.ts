import { getPopulation as get } from '../../database/populations.ts';
import { requireFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { viewPopulation } from './view.ts';

export const getPopulation: Handler<'getPopulation'> = async (exchange, _call, { params, path }) => {
  const found = await get(exchange.db, params.population);
  return viewPopulation(requireFound(found, 'POPULATION_NOT_FOUND', path));
};
