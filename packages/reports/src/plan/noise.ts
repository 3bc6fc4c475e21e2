/**
 * Decides how much noise to request for each need. The needs of a figure with a stated precision get the cheapest noise
 * that meets this precision. Each other need gets an even share of the stated budget.
 */
import type { PrivacyParams } from '@measurement-exchange/contract';
import { NORMAL_95 } from '@measurement-exchange/mpc';
import { addUnits, fromUnits, NOTHING, SliceSums, type Units } from '@measurement-exchange/mpc/charges';
import { assumedReach, expectedVariance } from './expected.ts';
import { costAt } from './spec.ts';
import { PlanError, type Surroundings } from './surroundings.ts';
import type { Plan, PlannedNeed, UnpricedNeed } from './types.ts';

type Unpriced = Pick<Plan, 'definition' | 'figures' | 'segments'> & { needs: readonly UnpricedNeed[] };

/** The range of ε to choose from. */
const [LEAST_EPSILON, MOST_EPSILON] = [1e-4, 100];
const STEPS = 40;

export function splitNoise(plan: Unpriced, surroundings: Surroundings): PlannedNeed[] {
  const asked = plan.needs.filter(({ answered }) => !answered);
  const shares = evenShares(asked);
  const variances = wantedVariances(plan, asked, surroundings);
  // Needs that differ only in period, group, or union often get the same parameters, so compute these only once.
  const known = new Map<string, PrivacyParams>();
  return plan.needs.map((planned) => {
    const share = shares.get(planned.key) ?? 1;
    const variance = variances.get(planned.key);
    const { type, maximumFrequency, maximumPerPerson } = planned.need;
    const how = variance === undefined ? [share] : [variance, planned.union];
    const id = JSON.stringify([type, maximumFrequency, maximumPerPerson, planned.dataProviders, how]);
    const paramsFor = () =>
      variance === undefined
        ? paramsForShare(planned, share, plan, surroundings)
        : paramsForVariance(planned, variance, plan, surroundings);
    const params = known.get(id) ?? paramsFor();
    known.set(id, params);
    return { ...planned, params };
  });
}

/**
 * Returns each need's share of the budget: 1 / n. A need is charged to the people in its slice, at each of its places.
 * A place is one day of one event group reference of a data provider. Here, n is the largest number of needs that are
 * charged to the same person of the slice at the same place.
 */
function evenShares(needs: readonly UnpricedNeed[]): Map<string, number> {
  const counts = new Map<string, Map<string, Units>>();
  for (const { places, slice } of needs) {
    for (const { id } of places) {
      const at = counts.get(id) ?? new Map<string, Units>();
      counts.set(id, at.set(slice, addUnits(at.get(slice) ?? NOTHING, ONE)));
    }
  }
  const sums = new SliceSums();
  const known = new Map<string, number>();
  const countAt = (id: string, slice: string) => {
    const key = `${id} ${slice}`;
    const count = known.get(key) ?? Number(sums.worst(counts.get(id)!, slice).epsilon);
    known.set(key, count);
    return count;
  };
  const most = ({ places, slice }: UnpricedNeed) =>
    places.reduce((count, { id }) => Math.max(count, countAt(id, slice)), 1);
  return new Map(needs.map((need) => [need.key, 1 / most(need)]));
}

/**
 * A charge of one unit of ε, used for every need. The largest sum of these charges for one person, in units, is the
 * largest number of needs that are charged to one person.
 */
const ONE: Units = { ...NOTHING, epsilon: 1n };

/**
 * Returns the variance allowed for each need of a figure with a stated precision. The precision fixes the sum of
 * weight² · variance over the needs of the figure. The cost of a need with p places is proportional to p / variance.
 * Therefore, the cheapest variances are proportional to √p / |weight|. A need that several figures use gets the
 * smallest of its variances.
 */
function wantedVariances(
  plan: Unpriced,
  asked: readonly UnpricedNeed[],
  surroundings: Surroundings,
): Map<string, number> {
  const needs = new Map(asked.map((need) => [need.key, need]));
  const root = ({ places }: UnpricedNeed) => Math.sqrt(places.length);
  const all = new Map(plan.needs.map((need) => [need.key, need]));
  const variances = new Map<string, number>();
  for (const { request, of, terms } of plan.figures) {
    if (request.precision === undefined) continue;
    const own = terms.flatMap(({ key, weight }) => {
      const need = needs.get(key);
      return need === undefined ? [] : [{ need, weight: Math.abs(weight) }];
    });
    const value = terms.reduce((sum, { key, weight }) => {
      const need = all.get(key)!;
      return sum + weight * assumedReach(need.union, plan.segments, surroundings);
    }, 0);
    const wanted = (halfWidthOf(request.precision, value) / NORMAL_95) ** 2;
    if (own.length > 0 && !(wanted > 0)) {
      throw new PlanError(
        `The precision of ${of} is a percentage of an expected ${value}: give it as a number of people.`,
      );
    }
    const total = own.reduce((sum, { need, weight }) => sum + weight * root(need), 0);
    for (const { need, weight } of own) {
      const variance = (wanted * root(need)) / (weight * total);
      variances.set(need.key, Math.min(variances.get(need.key) ?? Number.POSITIVE_INFINITY, variance));
    }
  }
  return variances;
}

export function halfWidthOf(precision: string | number, value: number): number {
  return typeof precision === 'number' ? precision : (Number.parseFloat(precision) / 100) * Math.abs(value);
}

/**
 * Returns the privacy parameters that use a share of the budget. A budget in ε limits the requested parameters, but a
 * budget in ρ limits the charged cost. Throws `PlanError` if the share of ρ is too small for any parameters.
 */
function paramsForShare(
  planned: UnpricedNeed,
  share: number,
  { definition }: Unpriced,
  surroundings: Surroundings,
): PrivacyParams {
  const { epsilon, rho, delta = 0 } = definition.budget;
  // Split the share into three parts for a frequency need: one for reach, and one for each of the two frequency counts
  // that a person can change.
  const parts = planned.need.type === 'REACH_AND_FREQUENCY' ? 3 : 1;
  if (epsilon !== undefined) return { epsilon: (epsilon * share) / parts, delta: (delta * share) / parts };
  // A charge in ε limits the same loss as ε² / 2 of ρ (Bun and Steinke 2016, proposition 1.4).
  const charged = (params: PrivacyParams) =>
    Math.max(
      ...planned.dataProviders.map((provider) => {
        const cost = fromUnits(costAt(planned, params, provider, surroundings));
        return cost.rho + cost.epsilon ** 2 / 2;
      }),
    );
  return largest(delta, (params) => charged(params) <= rho! * share) ?? tooLittle(planned, rho! * share);
}

function tooLittle({ need }: UnpricedNeed, share: number): never {
  throw new PlanError(
    `The budget leaves rho ${share.toPrecision(3)} for a ${need.type}, which is too little: raise budget.rho or ask for less.`,
  );
}

function paramsForVariance(
  planned: UnpricedNeed,
  variance: number,
  plan: Unpriced,
  surroundings: Surroundings,
): PrivacyParams {
  const { delta = 0 } = plan.definition.budget;
  const value = assumedReach(planned.union, plan.segments, surroundings);
  const isNoisier = (params: PrivacyParams) =>
    expectedVariance(planned, params, value, surroundings) > variance;
  const params = largest(delta, isNoisier) ?? { epsilon: LEAST_EPSILON, delta };
  return params;
}

/**
 * Returns the parameters with the largest ε that meet the condition, or undefined if even the smallest ε does not meet
 * it.
 */
function largest(delta: number, meets: (params: PrivacyParams) => boolean): PrivacyParams | undefined {
  let [low, high] = [Math.log(LEAST_EPSILON), Math.log(MOST_EPSILON)];
  const at = (log: number) => ({ epsilon: Number(Math.exp(log).toPrecision(9)), delta });
  if (!meets(at(low))) return undefined;
  for (let i = 0; i < STEPS; i++) {
    const middle = (low + high) / 2;
    if (meets(at(middle))) low = middle;
    else high = middle;
  }
  return at(low);
}
