import { lockPopulations, savePopulation } from '../../database/populations.ts';
import { requireFound } from '../../domain/found.ts';
import { requireFreeModelLines, updatePopulation as update } from '../../domain/population.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { takeDefault } from './takeDefault.ts';
import { viewPopulation } from './view.ts';

export const updatePopulation: Handler<'updatePopulation'> = async (exchange, call, request) => {
  const { params, path: name, body } = request;
  return mutate('updatePopulation', exchange, call, request, async (tx) => {
    const now = exchange.clock();
    const { existing, current, takers } = await lockPopulations(tx, params.population, body.modelLines);
    const after = update(requireFound(existing, 'POPULATION_NOT_FOUND', name), body, now);
    requireFreeModelLines(after, takers);
    const taken = takeDefault(after, current, now);
    return {
      save: () => {
        taken.save(tx);
        savePopulation(tx, after);
      },
      versions: [...taken.versions, { name, version: after.version, time: after.updateTime }],
      view: () => viewPopulation(after),
    };
  });
};
