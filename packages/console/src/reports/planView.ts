/** Computes the parts of a plan that pages show: its cost, its measurements, and the expected error of its figures. */
import type { Plan, Rehearsal, RehearsedFigure } from '@measurement-exchange/reports';
import { chargeViews } from './charges.ts';
import { segmentsOf } from './segments.ts';
import type { ExpectedView, PlanView } from './types.ts';
import { everythingOf } from './view.ts';

export function planView(plan: Plan, rehearsal: Rehearsal): PlanView {
  const { definition } = plan;
  return {
    interval: definition.interval,
    segments: segmentsOf(definition),
    sets: definition.sets ?? {},
    everything: everythingOf(definition),
    figures: plan.figures.length,
    needs: plan.needs.length,
    measurements: rehearsal.measurements,
    reused: rehearsal.reused,
    charges: chargeViews(plan, rehearsal.charges),
    expected: expectedOf(rehearsal.figures),
    advice: rehearsal.advice,
  };
}

/** Merges figures that differ only in period or group, and keeps the widest of their intervals. */
function expectedOf(figures: readonly RehearsedFigure[]): ExpectedView[] {
  const alike = Map.groupBy(figures, ({ figure: { request, of } }) =>
    JSON.stringify([request.metric, of, request.periods, request.cumulative, request.groups]),
  );
  return [...alike.values()].map((of) => {
    const { request, of: set } = of[0]!.figure;
    const margins = of.flatMap(({ halfWidth }) => halfWidth ?? []);
    return {
      metric: request.metric,
      of: set,
      periods: request.periods ?? 'total',
      isCumulative: request.cumulative ?? false,
      ...(request.groups !== undefined && { groups: request.groups }),
      count: of.length,
      ...(margins.length > 0 && { margin: Math.max(...margins) }),
      misses: of.some(({ misses }) => misses === true),
    };
  });
}
