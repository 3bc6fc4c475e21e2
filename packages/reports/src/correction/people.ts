/**
 * Finds kinds of people. All people of a kind have the same attributes, the same history (see timeline.ts), and the
 * same frequency in each measured frequency distribution. solve.ts fits the number of people of each kind to the rows
 * (the measured numbers).
 */
import type { Period } from '../definition/calendar.ts';
import { type Group, periodId } from '../needs/need.ts';
import { isCount, type Row } from './answers.ts';
import { type History, Timeline } from './timeline.ts';

/**
 * The indexes of the rows (the measured numbers) that count the people of one kind. Each person of this kind counts
 * once in each of these rows.
 */
export type Column = readonly number[];

/** A kind of people, and its reward: how much one more person of this kind would improve the fit of the rows. */
export interface Kind {
  /** The indexes in `column`, joined with commas. */
  id: string;
  column: Column;
  reward: number;
}

export interface PeopleGroup {
  /**
   * Finds kinds of people in this group whose reward exceeds `least`. The result contains the kind with the highest
   * reward, but it can omit other kinds above `least`. A kind's reward is the sum of `rewards` over the rows in its
   * column.
   */
  best(rewards: ArrayLike<number>, least: number): Kind[];
  /**
   * For each row, estimates how many of the people counted in the row are in this group. `values` contains the measured
   * values of the rows.
   */
  partOf(values: readonly number[]): number[];
}

/**
 * The rows of one need (a reach or a distribution). A reach has one row, and a distribution has one row per frequency.
 */
interface NeedRows {
  union: number;
  period: number;
  group: Group;
  rows: number[];
}

export class People {
  private readonly needs: NeedRows[] = [];
  private readonly cells: Group[];
  private readonly timeline: Timeline;
  private readonly periods: number;
  private readonly atoms: number;

  /**
   * `segments` is the number of segments. `atoms` lists the combinations of segments that can reach a person, as bit
   * masks.
   */
  constructor(rows: readonly Row[], segments: number, atoms: readonly number[]) {
    const periods = new Map<string, { index: number; period: Period }>();
    const needs = new Map<string, NeedRows>();
    for (const [i, row] of rows.entries()) {
      if (isCount(row)) continue;
      const { key, need, union } = row.planned;
      const id = periodId(need.period);
      if (!periods.has(id)) periods.set(id, { index: periods.size, period: need.period });
      const known = needs.get(key);
      if (known) known.rows.push(i);
      else needs.set(key, { union, period: periods.get(id)!.index, group: need.group, rows: [i] });
    }
    const merge = mergedSegments([...needs.values()], segments);
    this.needs = [...needs.values()].map((need) => ({ ...need, union: merge.mask(need.union) }));
    this.cells = cellsOf(this.needs.map(({ group }) => group));
    this.periods = periods.size;
    this.atoms = 1 << merge.count;
    const merged = [...new Set(atoms.map(merge.mask))].filter((atom) => atom > 0);
    this.timeline = new Timeline(
      [...periods.values()].map(({ period }) => period),
      merge.count,
      merged,
    );
  }

  get groups(): PeopleGroup[] {
    return this.cells.map((cell) => {
      const needs = this.needs.filter(({ group }) => includes(group, cell));
      return {
        best: (rewards, least) => this.best(needs, rewards, least),
        partOf: (values) => this.partOf(needs, values),
      };
    });
  }

  private best(needs: readonly NeedRows[], rewards: ArrayLike<number>, least: number): Kind[] {
    const found = new Map<string, Kind>();
    const best = needs.map(({ rows }) =>
      rows.reduce((one, row) => (rewards[row]! > rewards[one]! ? row : one), rows[0]!),
    );
    for (const history of this.timeline.best(this.tables(needs, best, rewards))) {
      for (const column of columnsOf(history, needs, best)) {
        let reward = 0;
        for (const row of column) reward += rewards[row]!;
        if (column.length === 0 || reward <= least) continue;
        const id = column.join();
        found.set(id, { id, column, reward });
      }
    }
    return [...found.values()];
  }

  /**
   * Estimates this group's part of each value. If a need covers several groups, the part is the value that was measured
   * for this group alone. If this group was not measured alone, the value is divided evenly among the groups that the
   * need covers.
   */
  private partOf(needs: readonly NeedRows[], values: readonly number[]): number[] {
    const part = values.map(() => 0);
    const narrow = new Map(
      needs.filter((need) => this.cellsIn(need) === 1).map((need) => [idOf(need), need]),
    );
    for (const need of needs) {
      const own = narrow.get(idOf(need));
      for (const [i, row] of need.rows.entries())
        part[row] = own === undefined ? values[row]! / this.cellsIn(need) : values[own.rows[i]!]!;
    }
    return part;
  }

  private cellsIn({ group }: NeedRows): number {
    return this.cells.filter((cell) => includes(group, cell)).length;
  }

  private tables(
    needs: readonly NeedRows[],
    best: readonly number[],
    rewards: ArrayLike<number>,
  ): Float64Array[] {
    const tables = Array.from({ length: this.periods }, () => new Float64Array(this.atoms));
    for (const [i, { union, period }] of needs.entries()) {
      const reward = rewards[best[i]!]!;
      const table = tables[period]!;
      for (let atom = 1; atom < this.atoms; atom++) if (atom & union) table[atom]! += reward;
    }
    return tables;
  }
}

/** Returns an ID for a need. Needs that differ only in their groups have the same ID. */
function idOf({ union, period, rows }: NeedRows): string {
  return [union, period, rows.length].join();
}

/**
 * Returns the columns of kinds of people with this history. `best` lists, for each need, the row with the highest
 * reward. The first column has the best row of each need that counts these people. Each other column replaces the best
 * row of one distribution with the row of another frequency. Rows are sorted by need, so columns are sorted.
 */
function columnsOf({ atoms }: History, needs: readonly NeedRows[], best: readonly number[]): Column[] {
  const column: number[] = [];
  const others: [at: number, row: number][] = [];
  for (let i = 0; i < needs.length; i++) {
    const { union, period, rows } = needs[i]!;
    if ((atoms[period]! & union) === 0) continue;
    if (rows.length > 1) for (const row of rows) if (row !== best[i]) others.push([column.length, row]);
    column.push(best[i]!);
  }
  return [column, ...others.map(([at, row]) => column.with(at, row))];
}

/**
 * Merges segments that belong to exactly the same unions, because no row distinguishes them. Leaves out segments that
 * belong to no union. Returns the number of merged segments, and a function that converts a bit mask of segments to a
 * bit mask of merged segments.
 */
function mergedSegments(needs: readonly NeedRows[], segments: number) {
  const ids = Array.from({ length: segments }, (_, bit) =>
    needs.map(({ union }) => (union >> bit) & 1).join(''),
  );
  const kinds = [...new Set(ids)].filter((id) => id.includes('1'));
  const mask = (union: number) =>
    ids.reduce(
      (merged, id, bit) =>
        union & (1 << bit) && id.includes('1') ? merged | (1 << kinds.indexOf(id)) : merged,
      0,
    );
  return { count: kinds.length, mask };
}

/** Returns every combination of the attribute values that occur in the groups. */
function cellsOf(groups: readonly Group[]): Group[] {
  const values = new Map<string, Set<string>>();
  for (const group of groups) {
    for (const [attribute, value] of Object.entries(group)) {
      values.set(attribute, (values.get(attribute) ?? new Set()).add(value));
    }
  }
  let cells: Group[] = [{}];
  for (const [attribute, of] of values) {
    cells = cells.flatMap((cell) => [...of].map((value) => ({ ...cell, [attribute]: value })));
  }
  return cells;
}

function includes(group: Group, cell: Group): boolean {
  return Object.entries(group).every(([attribute, value]) => cell[attribute] === value);
}
