import { Population, PopulationInput, PopulationUpdate } from '../codecs/population.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import * as row from './route.ts';

export const POPULATION_ROUTES = [
  {
    ...row.CREATE,
    operation: 'createPopulation',
    path: 'populations',
    access: { operator: 'any' },
    query: s.object({ populationId: s.optional(s.chosenId()) }),
    body: row.created('population', PopulationInput, Population),
    response: Population,
    errors: ['POPULATION_ALREADY_EXISTS', 'MODEL_LINE_TAKEN'],
    summary: 'Create a population: the virtual people that measurements can count across data providers',
  },
  {
    ...row.LIST,
    operation: 'listPopulations',
    path: 'populations',
    access: row.EVERYBODY,
    response: s.object({ populations: s.array(Population), nextPageToken: row.nextPageToken }),
    summary: 'List the populations',
  },
  {
    ...row.READ,
    operation: 'getPopulation',
    path: PATTERNS.population,
    access: row.EVERYBODY,
    response: Population,
    errors: ['POPULATION_NOT_FOUND'],
    summary: 'Read a population',
  },
  {
    ...row.UPDATE,
    operation: 'updatePopulation',
    path: PATTERNS.population,
    access: { operator: 'any' },
    body: row.updated('population', PopulationUpdate, Population),
    response: Population,
    errors: ['POPULATION_NOT_FOUND', 'MODEL_LINE_TAKEN'],
    summary: 'Change the model lines of a population, or whether it is the default; its ranges never change',
  },
] as const satisfies readonly row.Route[];
