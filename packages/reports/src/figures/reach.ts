/**
 * Computes the reach of any set that a report's answers determine, including sets that the definition does not ask for.
 */
import type { Period } from '../definition/calendar.ts';
import { type Expression, parseExpression } from '../definition/expression.ts';
import { type Group, groupId, periodId } from '../needs/need.ts';
import type { PlannedNeed } from '../plan/types.ts';
import { type AtomSet, atomsOf, unionWeights } from '../sets/atoms.ts';
import { Span } from '../sets/span.ts';
import { type Estimate, estimateOf, type Term } from './estimate.ts';
import type { Report } from './report.ts';

/** A period and group of a report. If the group is absent, the block is about everybody. */
export interface Block {
  period: Period;
  group?: Group;
}

/**
 * Returns the reach of a set, or undefined if the answers do not determine it. If the answers about the group itself do
 * not determine the reach, the function adds up the reaches of the smaller groups in it. For example, the reach of one
 * sex is the sum over all ages. This call costs no privacy budget.
 */
export function reachOf(
  report: Report,
  set: string | Expression | AtomSet,
  block: Block,
): Estimate | undefined {
  const terms = reachTerms(report, set, block);
  return terms && estimateOf(report.correction, terms, report.plan.population);
}

/** Returns weighted needs that add up to the reach of a set, or undefined if the answers do not determine the reach. */
export function reachTerms(
  report: Report,
  set: string | Expression | AtomSet,
  { period, group = {} }: Block,
): Term[] | undefined {
  const { segments } = report.plan;
  const atoms =
    set instanceof Uint8Array ? set : atomsOf(typeof set === 'string' ? parseExpression(set) : set, segments);
  const blocks = blocksOf(report).get(periodId(period));
  if (blocks === undefined) return undefined;
  const own = blocks.get(groupId(group));
  const terms = own && termsIn(own, report, atoms);
  if (terms !== undefined) return terms;
  const finer = [...blocks.values()].filter((other) => isPartOf(other.group, group));
  for (const parts of Map.groupBy(finer, attributesOf).values()) {
    const sums = parts.map((part) => termsIn(part, report, atoms));
    if (sums.every((sum) => sum !== undefined)) return sums.flat();
  }
  return undefined;
}

/** The needs of one period and group that ask for a reach and have an answer. `reaches` maps each union to its need. */
interface AnsweredBlock {
  group: Group;
  reaches: Map<number, PlannedNeed>;
  /**
   * Finds the weights with which the measured reaches of unions add up to the reach of another set. Set only if some
   * combinations of segments cannot occur. If all combinations can occur, `unionWeights` finds the weights.
   */
  span?: Span;
}

/**
 * Caches the blocks of each report, by period and group, because a page asks for the reach of many sets of one report.
 */
const KNOWN = new WeakMap<Report, Map<string, Map<string, AnsweredBlock>>>();

function blocksOf(report: Report): Map<string, Map<string, AnsweredBlock>> {
  const known = KNOWN.get(report);
  if (known !== undefined) return known;
  const { plan, correction } = report;
  const periods = new Map<string, Map<string, AnsweredBlock>>();
  for (const planned of plan.needs) {
    const { type, period, group } = planned.need;
    if (type !== 'REACH' && type !== 'REACH_AND_FREQUENCY') continue;
    const groups = periods.get(periodId(period)) ?? new Map<string, AnsweredBlock>();
    periods.set(periodId(period), groups);
    const block = groups.get(groupId(group)) ?? { group, reaches: new Map() };
    groups.set(groupId(group), block);
    if (correction.needs.has(planned.key)) block.reaches.set(planned.union, planned);
  }
  KNOWN.set(report, periods);
  return periods;
}

function termsIn(block: AnsweredBlock, { plan }: Report, set: AtomSet): Term[] | undefined {
  const { reaches } = block;
  const { segments, atoms } = plan;
  if (atoms.length === (1 << segments.length) - 1) {
    const terms = [...unionWeights(set)].map(([union, weight]) => ({ key: reaches.get(union)?.key, weight }));
    return terms.every((term): term is Term => term.key !== undefined) ? terms : undefined;
  }
  const needs = [...reaches.values()];
  block.span ??= new Span(needs.map(({ union }) => atoms.map((atom) => (atom & union ? 1 : 0))));
  const weights = block.span.weightsOf(atoms.map((atom) => set[atom]!));
  return weights
    ?.map((weight, i) => ({ key: needs[i]!.key, weight: Math.round(weight * 1e9) / 1e9 }))
    .filter(({ weight }) => weight !== 0);
}

/** Returns whether all people of a group belong to a larger group. */
function isPartOf(group: Group, larger: Group): boolean {
  const entries = Object.entries(larger);
  return (
    Object.keys(group).length > entries.length &&
    entries.every(([attribute, value]) => group[attribute] === value)
  );
}

/**
 * Returns the names of a group's attributes. Groups with the same attribute names are disjoint, because they differ in
 * the value of at least one attribute. A plan has a group for each combination of these values that has people.
 * Therefore, the groups that belong to one larger group and have the same attribute names contain all people of the
 * larger group.
 */
function attributesOf({ group }: AnsweredBlock): string {
  return Object.keys(group).sort().join();
}
