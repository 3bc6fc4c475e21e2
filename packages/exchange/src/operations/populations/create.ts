import { ExchangeError } from '@measurement-exchange/contract';
import { insertPopulation, lockPopulations } from '../../database/populations.ts';
import { newPopulation, populationName, requireFreeModelLines } from '../../domain/population.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { takeDefault } from './takeDefault.ts';
import { viewPopulation } from './view.ts';

export const createPopulation: Handler<'createPopulation'> = async (exchange, call, request) => {
  const now = exchange.clock();
  const population = newPopulation(request.query.populationId ?? exchange.newId(), request.body, now);
  const name = populationName(population.id);
  return mutate('createPopulation', exchange, call, request, async (tx) => {
    const { existing, current, takers } = await lockPopulations(tx, population.id, population.modelLines);
    if (existing !== undefined) {
      throw new ExchangeError('POPULATION_ALREADY_EXISTS', `${name} exists already.`, {
        metadata: { existing: name },
      });
    }
    requireFreeModelLines(population, takers);
    const taken = takeDefault(population, current, now);
    return {
      save: () => {
        taken.save(tx);
        insertPopulation(tx, population);
      },
      versions: [...taken.versions, { name, version: 1, time: now }],
      view: () => viewPopulation(population),
    };
  });
};
