import { Population, PopulationInput, PopulationUpdate } from '../codecs/population.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import { EVERYBODY, nextPageToken, noQuery, paging, type Route } from './route.ts';

export const POPULATION_ROUTES = [
  {
    operation: 'createPopulation',
    method: 'POST',
    path: 'populations',
    access: { operator: 'any' },
    mutates: true,
    query: s.object({ populationId: s.optional(s.chosenId()) }),
    body: {
      form: 'resource',
      schema: PopulationInput,
      resource: Population,
      member: 'population',
      create: true,
    },
    response: Population,
    errors: ['POPULATION_ALREADY_EXISTS', 'MODEL_LINE_TAKEN'],
    summary: 'Create a population: the virtual people that measurements can count across data providers',
  },
  {
    operation: 'listPopulations',
    method: 'GET',
    path: 'populations',
    access: EVERYBODY,
    query: s.object(paging),
    response: s.object({ populations: s.array(Population), nextPageToken }),
    errors: [],
    summary: 'List the populations',
  },
  {
    operation: 'getPopulation',
    method: 'GET',
    path: PATTERNS.population,
    access: EVERYBODY,
    query: noQuery,
    response: Population,
    errors: ['POPULATION_NOT_FOUND'],
    summary: 'Read a population',
  },
  {
    operation: 'updatePopulation',
    method: 'PATCH',
    path: PATTERNS.population,
    access: { operator: 'any' },
    mutates: true,
    query: noQuery,
    body: {
      form: 'resource',
      schema: PopulationUpdate,
      resource: Population,
      member: 'population',
      create: false,
    },
    response: Population,
    errors: ['POPULATION_NOT_FOUND', 'MODEL_LINE_TAKEN'],
    summary: 'Change the model lines of a population, or whether it is the default; its ranges never change',
  },
] as const satisfies readonly Route[];
