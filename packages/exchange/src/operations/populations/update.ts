import { lockPopulations, savePopulation } from '../../database/populations.ts';
import {
  populationName,
  populationNotFound,
  requireFreeModelLines,
  updatePopulation as update,
} from '../../domain/population.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { takeDefault } from './takeDefault.ts';
import { viewPopulation } from './view.ts';

export const updatePopulation: Handler<'updatePopulation'> = async (exchange, call, request) => {
  const { population: id } = request.params;
  return mutate('updatePopulation', exchange, call, request, async (tx) => {
    const now = exchange.clock();
    const { existing, current, takers } = await lockPopulations(tx, id, request.body.modelLines);
    if (existing === undefined) throw populationNotFound(id);
    const after = update(existing, request.body, now);
    requireFreeModelLines(after, takers);
    const taken = takeDefault(after, current, now);
    return {
      save: () => {
        taken.save(tx);
        savePopulation(tx, after);
      },
      versions: [
        ...taken.versions,
        { name: populationName(id), version: after.version, time: after.updateTime },
      ],
      view: () => viewPopulation(after),
    };
  });
};
