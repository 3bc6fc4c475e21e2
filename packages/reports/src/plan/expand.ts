/** Expands each figure of a definition into one figure for each set, period, and group. */
import { type Period, periodsOf } from '../definition/calendar.ts';
import type { FigureRequest, ReportDefinition } from '../definition/definition.ts';
import type { Group } from '../needs/need.ts';
import { attributesOf, hasPeople } from './groups.ts';
import { PlanError, type Surroundings } from './surroundings.ts';

export interface WantedFigure {
  request: FigureRequest;
  /** The name of the segment or set. */
  of: string;
  period: Period;
  group: Group;
}

export function expandFigures(definition: ReportDefinition, surroundings: Surroundings): WantedFigure[] {
  const attributes = attributesOf(surroundings);
  return definition.figures.flatMap((request) => {
    const periods = periodsOf(definition.interval, request.periods, request.cumulative);
    const by = request.groups === undefined ? [] : definition.groups![request.groups]!.by;
    const groups = combinations(by, attributes).filter((group) => hasPeople(group, surroundings));
    return request.of.flatMap((of) =>
      periods.flatMap((period) => groups.map((group) => ({ request, of, period, group }))),
    );
  });
}

function combinations(
  by: readonly string[],
  attributes: Readonly<Record<string, readonly string[]>>,
): Group[] {
  let groups: Group[] = [{}];
  for (const attribute of by) {
    const values = attributes[attribute];
    if (values === undefined) {
      const known = Object.keys(attributes).join(', ') || 'none';
      throw new PlanError(`The population has no attribute ${attribute}: its attributes are ${known}.`);
    }
    groups = groups.flatMap((group) => values.map((value) => ({ ...group, [attribute]: value })));
  }
  return groups;
}
