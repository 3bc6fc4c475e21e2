/** A report with all corrected figures. It also states how well the answers agree, and which answers are missing. */

import type { Answer } from '../correction/answers.ts';
import { type Correction, correct } from '../correction/correct.ts';
import type { Fit } from '../correction/fit.ts';
import type { Plan, PlannedFigure } from '../plan/types.ts';
import { type Estimate, estimateOf, type Term } from './estimate.ts';

export interface ReportedFigure extends Partial<Estimate> {
  figure: PlannedFigure;
  /** The keys of the needs whose answers are missing. Empty if the figure has a value. */
  missing: string[];
  /** The people at each frequency, and the people at that frequency or above. Set only for frequency figures. */
  frequencies?: { frequency: number; people: Estimate; orMore: Estimate }[];
}

export interface Report {
  plan: Plan;
  correction: Correction;
  figures: ReportedFigure[];
  /** INCONSISTENT if answers contradict each other. Otherwise, INCOMPLETE if an answer is missing. */
  state: 'COMPLETE' | 'INCOMPLETE' | 'INCONSISTENT';
  /** The fit of each set of answers that was corrected separately, with the worst fit first. */
  fits: Fit[];
}

export function correctReport(plan: Plan, answers: ReadonlyMap<string, Answer>): Report {
  const correction = correct(plan, answers);
  const figures = plan.figures.map((figure) => reportedFigure(plan, correction, figure));
  const fits = correction.components.map(({ fit }) => fit).sort((a, b) => a.p - b.p);
  const isInconsistent = fits.some(({ state }) => state === 'INCONSISTENT');
  const isIncomplete = figures.some(({ missing }) => missing.length > 0);
  const state = isInconsistent ? 'INCONSISTENT' : isIncomplete ? 'INCOMPLETE' : 'COMPLETE';
  return { plan, correction, figures, state, fits };
}

function reportedFigure(plan: Plan, correction: Correction, figure: PlannedFigure): ReportedFigure {
  const missing = figure.terms.filter(({ key }) => !correction.needs.has(key)).map(({ key }) => key);
  if (missing.length > 0) return { figure, missing };
  const isPeople = figure.request.metric === 'reach' || figure.request.metric === 'frequency';
  const maximum = isPeople ? plan.population : undefined;
  const estimate = estimateOf(correction, figure.terms, maximum)!;
  if (figure.request.metric !== 'frequency') return { figure, missing, ...estimate };
  const [{ key }] = figure.terms as [Term];
  const mostReached = estimate.interval[1];
  const people = (ofFrequency: (frequency: number) => number) =>
    estimateOf(correction, [{ key, weight: 1, ofFrequency }], mostReached)!;
  const frequencies = correction.needs.get(key)!.frequencies!.map((_, i) => ({
    frequency: i + 1,
    people: people((frequency) => (frequency === i + 1 ? 1 : 0)),
    orMore: people((frequency) => (frequency >= i + 1 ? 1 : 0)),
  }));
  return { figure, missing, ...estimate, frequencies };
}
