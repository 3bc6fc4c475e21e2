/** `mex populations`: shows the populations of virtual people that measurements can count. */
import type { Population, Subpopulation } from '@measurement-exchange/contract';
import type { Command } from 'commander';
import { type ListOptions, listCommand, pageSizeOf, showPages } from '../calls/caller.ts';
import { type CallOptions, group, remote, showResource } from '../calls/command.ts';
import { connect } from '../connection/client.ts';
import { inFull } from '../files/names.ts';
import { hex } from '../keys/describe.ts';
import { count } from '../terminal/numbers.ts';
import { printFacts, visible } from '../terminal/output.ts';
import { timeFacts } from '../terminal/times.ts';

export function populationsCommand(): Command {
  return group('populations', 'the virtual people that can be counted across data providers: list, show', [
    list(),
    show(),
  ]);
}

function list(): Command {
  return listCommand('list', 'list the populations').action(async (options: ListOptions) => {
    const client = await connect(options);
    const listing = client.listPopulations(pageSizeOf(options));
    await showPages(options, listing.pages(), (page) => page.populations, {
      headings: ['NAME', 'DISPLAY NAME', 'PEOPLE', 'DEFAULT', 'MODEL LINES'],
      row: (p) => [p.name, p.displayName, count(p.size!), p.default ? 'yes' : 'no', p.modelLines?.join(', ')],
      none: 'There are no populations: the operator makes one with mex admin populations create.',
    });
  });
}

function show(): Command {
  return remote('show <population>', 'show one, by its name or ID').action(
    async (text: string, options: CallOptions) => {
      const client = await connect(options);
      showResource(options, await client.getPopulation({ name: populationName(text) }), describePopulation);
    },
  );
}

export const populationName = inFull('populations');

/** The maximum number of ranges to print. For further ranges, only their number is printed. */
const SHOWN_RANGES = 8;

export function describePopulation(population: Population): void {
  const { vidRanges, subpopulations = [], modelLines = [] } = population;
  const ranges = vidRanges.slice(0, SHOWN_RANGES).map(({ start, end }) => `${start}-${end}`);
  const more = vidRanges.length - ranges.length;
  printFacts(population.name!, {
    'display name': visible(population.displayName ?? ''),
    people: count(population.size!),
    VIDs: `${ranges.join(', ')}${more > 0 ? ` and ${more} more ranges` : ''}`,
    ...(subpopulations.length > 0 && { attributes: attributesIn(subpopulations) }),
    fingerprint: hex(population.fingerprint!),
    default: population.default ? 'yes' : 'no',
    'model lines': modelLines.length > 0 ? modelLines.map(visible).join(', ') : 'none',
    ...timeFacts(population),
  });
}

/** The maximum number of values to print for an attribute. */
const SHOWN_VALUES = 12;

/** Returns text that lists each attribute that filters can use, with its first values. */
function attributesIn(subpopulations: readonly Subpopulation[]): string {
  const values = Map.groupBy(
    subpopulations.flatMap(({ attributes }) => attributes),
    ({ name }) => name,
  );
  return [...values]
    .map(([name, all]) => {
      const distinct = [...new Set(all.map(({ value }) => visible(value)))];
      const more = distinct.length - SHOWN_VALUES;
      const listed = distinct.slice(0, SHOWN_VALUES).join(', ');
      return `person.${name} (${listed}${more > 0 ? ` and ${more} more` : ''})`;
    })
    .join('; ');
}
