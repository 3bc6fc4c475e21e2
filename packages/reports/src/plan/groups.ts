/** Finds the groups of a report in a population. */
import type { Subpopulation } from '@measurement-exchange/contract';
import { EVERYBODY, sliceText } from '@measurement-exchange/mpc/charges';
import { type Group, groupId } from '../needs/need.ts';
import type { Surroundings } from './surroundings.ts';

/** Returns the values of each attribute. By default, collects the values from the subpopulations, in their order. */
export function attributesOf({ attributes, subpopulations = [] }: Surroundings) {
  if (attributes !== undefined) return attributes;
  const values: Record<string, string[]> = {};
  for (const { name, value } of subpopulations.flatMap((part) => part.attributes)) {
    values[name] ??= [];
    if (!values[name].includes(value)) values[name].push(value);
  }
  return values;
}

/** Returns whether the population has people in the group. Returns true if the people's attributes are unknown. */
export function hasPeople(group: Group, { subpopulations }: Surroundings): boolean {
  return subpopulations === undefined || subpopulations.some((part) => isIn(part, group));
}

/**
 * Returns a function that finds a group's slice: the people whose budgets a data provider charges for the group. The
 * provider finds these people in its own population, which must have the same groups.
 */
export function sliceFinder({ subpopulations }: Surroundings): (group: Group) => string {
  const known = new Map<string, string>();
  return (group) => {
    if (subpopulations === undefined || Object.keys(group).length === 0) return EVERYBODY;
    const id = groupId(group);
    const slice = known.get(id) ?? sliceOf(subpopulations.filter((part) => isIn(part, group)));
    known.set(id, slice);
    return slice;
  };
}

function sliceOf(parts: readonly Subpopulation[]): string {
  const vids = parts.flatMap(({ vidRanges }) => vidRanges);
  return sliceText({ vid: vids.map(({ start, end }) => ({ start: BigInt(start), end: BigInt(end) })) });
}

function isIn({ attributes }: Subpopulation, group: Group): boolean {
  return Object.entries(group).every(([name, value]) =>
    attributes.some((attribute) => attribute.name === name && attribute.value === value),
  );
}
