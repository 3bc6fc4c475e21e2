/** Rehearses a plan. Computes the exact charges to the ledgers, and the expected error of every figure. */
import { NORMAL_95 } from '@measurement-exchange/mpc';
import {
  addUnits,
  fromUnits,
  NOTHING,
  type PrivacyAmount,
  SliceSums,
  type Units,
} from '@measurement-exchange/mpc/charges';
import { assumedReach, expectedVariance } from './expected.ts';
import { halfWidthOf } from './noise.ts';
import { costAt } from './spec.ts';
import type { Surroundings } from './surroundings.ts';
import type { Place, Plan, PlannedFigure } from './types.ts';

/**
 * The charge at one place (one day of one event group reference of a data provider). It is the largest total that any
 * one person is charged at this place.
 */
export interface RehearsedCharge extends Place {
  units: Units;
  amount: PrivacyAmount;
}

export interface RehearsedFigure {
  figure: PlannedFigure;
  /**
   * The expected half-width of the figure's 95% interval. Undefined if all answers that the figure uses already exist.
   */
  halfWidth?: number;
  /** True if the half-width exceeds the wanted precision by more than 0.1 %. */
  misses?: boolean;
}

export interface Rehearsal {
  /** The number of measurements that each protocol computes. */
  measurements: Record<string, number>;
  /** The number of needs that have already been answered. */
  reused: number;
  charges: RehearsedCharge[];
  figures: RehearsedFigure[];
  /** Suggested changes that make the budget sufficient. Empty if the budget is already sufficient. */
  advice: string[];
}

export function rehearse(plan: Plan, surroundings: Surroundings): Rehearsal {
  const charges = chargesOf(plan, surroundings);
  const needs = new Map(plan.needs.map((need) => [need.key, need]));
  const measurements: Record<string, number> = {};
  for (const [key] of plan.measurements) {
    const protocol = needs.get(key!)!.computed?.protocol ?? 'direct';
    measurements[protocol] = (measurements[protocol] ?? 0) + 1;
  }
  return {
    measurements,
    reused: plan.needs.filter(({ answered }) => answered).length,
    charges,
    figures: expectedFigures(plan, surroundings),
    advice: adviceFor(plan, charges),
  };
}

/** Returns the charge at each place (see `placeLister`) for all needs that have no answer yet. */
export function chargesOf({ needs }: Pick<Plan, 'needs'>, surroundings: Surroundings): RehearsedCharge[] {
  const totals = new Map<string, { place: Place; amounts: Map<string, Units> }>();
  const sums = new SliceSums();
  // Needs that differ only in period or group cost the same, so compute each cost only once.
  const known = new Map<string, Units>();
  for (const planned of needs) {
    if (planned.answered) continue;
    const { type, maximumFrequency, maximumPerPerson } = planned.need;
    const how = [type, maximumFrequency, maximumPerPerson, planned.params, planned.dataProviders.length];
    const costs = planned.dataProviders.map((provider) => {
      const id = JSON.stringify([how, provider, planned.computed?.protocol]);
      const cost = known.get(id) ?? costAt(planned, planned.params, provider, surroundings);
      known.set(id, cost);
      return [provider, cost] as const;
    });
    const costOf = new Map(costs);
    for (const place of planned.places) {
      const { amounts } = totals.get(place.id) ?? { amounts: new Map<string, Units>() };
      const slice = sums.chargeable(amounts, planned.slice);
      amounts.set(slice, addUnits(amounts.get(slice) ?? NOTHING, costOf.get(place.dataProvider)!));
      totals.set(place.id, { place, amounts });
    }
  }
  return [...totals.values()].map(({ place, amounts }) => {
    const units = sums.worst(amounts);
    return { ...place, units, amount: fromUnits(units) };
  });
}

function expectedFigures(plan: Plan, surroundings: Surroundings): RehearsedFigure[] {
  const { segments } = plan;
  const expected = new Map(
    plan.needs.map((planned) => {
      const value = assumedReach(planned.union, segments, surroundings);
      const variance = planned.answered
        ? undefined
        : expectedVariance(planned, planned.params, value, surroundings);
      return [planned.key, { value, variance }];
    }),
  );
  return plan.figures.map((figure) => {
    const terms = figure.terms.map(({ key, weight }) => ({ ...expected.get(key)!, weight }));
    if (terms.every(({ variance }) => variance === undefined)) return { figure };
    const variance = terms.reduce((sum, { weight, variance = 0 }) => sum + weight ** 2 * variance, 0);
    const halfWidth = NORMAL_95 * Math.sqrt(variance);
    const { precision } = figure.request;
    if (precision === undefined) return { figure, halfWidth };
    const value = terms.reduce((sum, { weight, value }) => sum + weight * value, 0);
    return { figure, halfWidth, misses: halfWidth > halfWidthOf(precision, value) * 1.001 };
  });
}

/**
 * Suggests a larger budget or larger half-widths, if the charges exceed the stated budget, or if a wanted precision needs
 * a larger ε than the budget has.
 */
function adviceFor({ definition, needs }: Plan, charges: readonly RehearsedCharge[]): string[] {
  const { rho, epsilon } = definition.budget;
  const asked = Math.max(0, ...needs.filter(({ answered }) => !answered).map(({ params }) => params.epsilon));
  if (epsilon !== undefined && asked > epsilon) {
    return [
      `The wanted precision needs an epsilon of ${asked.toPrecision(3)}, and the budget is ${epsilon}: ` +
        'raise budget.epsilon, or want wider intervals.',
    ];
  }
  const [measure, limit] = rho === undefined ? (['epsilon', epsilon!] as const) : (['rho', rho] as const);
  const most = charges.reduce<RehearsedCharge | undefined>(
    (worst, charge) =>
      worst === undefined || charge.amount[measure] > worst.amount[measure] ? charge : worst,
    undefined,
  );
  if (most === undefined || most.amount[measure] <= limit) return [];
  const { dataProvider, day, amount } = most;
  return [
    `${dataProvider} would be charged ${measure} ${amount[measure]} for ${day}, and the budget is ${limit}: ` +
      `raise budget.${measure} to ${amount[measure]}, or multiply the wanted half-widths by ` +
      `${Math.sqrt(amount[measure] / limit).toPrecision(3)}.`,
  ];
}
