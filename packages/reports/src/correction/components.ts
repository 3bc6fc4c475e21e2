/** Splits rows (measured numbers) into parts with disjoint periods or groups, which can be corrected separately. */
import type { Period } from '../definition/calendar.ts';
import { type Group, groupId, periodId } from '../needs/need.ts';
import type { Row } from './answers.ts';

/** Splits the rows into parts. Rows in different parts have disjoint periods or disjoint groups. */
export function componentsOf(rows: readonly Row[]): Row[][] {
  // Rows with the same period and group are always in the same part.
  const blocks = [...Map.groupBy(rows, blockId).values()];
  const isRelated = ([a]: readonly Row[], [b]: readonly Row[]) =>
    overlaps(a!.planned.need.period, b!.planned.need.period) &&
    isCompatible(a!.planned.need.group, b!.planned.need.group);
  return connected(blocks, isRelated).map((part) => part.flat());
}

/**
 * Returns lists of parts. Parts with overlapping periods are in the same list. If the parts of a list have
 * more people in total than the population, `correct` corrects these parts together.
 */
export function neighborsOf<T extends { rows: Row[] }>(parts: readonly T[]): T[][] {
  const periods = new Map(
    parts.map((part) => {
      const own = new Map(
        part.rows.map(({ planned }) => [periodId(planned.need.period), planned.need.period]),
      );
      return [part, [...own.values()]];
    }),
  );
  const isNear = (a: T, b: T) =>
    periods.get(a)!.some((one) => periods.get(b)!.some((other) => overlaps(one, other)));
  return connected(parts, isNear);
}

function blockId({ planned: { need } }: Row): string {
  return `${periodId(need.period)} ${groupId(need.group)}`;
}

/** Splits the items into lists. Two items are in the same list if a chain of related items connects them. */
function connected<T>(items: readonly T[], isRelated: (a: T, b: T) => boolean): T[][] {
  const parent = items.map((_, i) => i);
  const root = (i: number): number => {
    let at = i;
    while (parent[at] !== at) {
      parent[at] = parent[parent[at]!]!;
      at = parent[at]!;
    }
    return at;
  };
  for (let i = 0; i < items.length; i++) {
    for (let j = 0; j < i; j++) {
      const [a, b] = [root(i), root(j)];
      if (a !== b && isRelated(items[i]!, items[j]!)) parent[a] = b;
    }
  }
  return [...Map.groupBy(items.keys(), root).values()].map((indexes) => indexes.map((i) => items[i]!));
}

function overlaps(a: Period, b: Period): boolean {
  return a.start < b.end && b.start < a.end;
}

function isCompatible(a: Group, b: Group): boolean {
  return Object.entries(a).every(
    ([attribute, value]) => b[attribute] === undefined || b[attribute] === value,
  );
}
