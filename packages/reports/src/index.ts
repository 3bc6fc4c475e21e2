/** Entry point for reports: definition, plan, rehearsal, correction and figures. */

export type { Answer, Methodology, StatedNoise } from './correction/answers.ts';
export type { Fit } from './correction/fit.ts';
export { SolveError } from './correction/solveError.ts';
export { type LocalInterval, type Period, periodsOf } from './definition/calendar.ts';
export * from './definition/definition.ts';
export { type Expression, ExpressionError, parseExpression } from './definition/expression.ts';
export { DEFINITION_SCHEMA, editorSchema, MAX_SEGMENTS } from './definition/schema.ts';
export { type StarterEventGroup, starterDefinition } from './definition/starter.ts';
export { groupText, toReportCsv } from './exports/csv.ts';
export { digitsFor } from './exports/digits.ts';
export * from './exports/document.ts';
export * from './figures/derived.ts';
export type { Estimate } from './figures/estimate.ts';
export { type Block, reachOf } from './figures/reach.ts';
export { correctReport, type Report, type ReportedFigure } from './figures/report.ts';
export { type Cell, filterOf, type Group, keyOf, type Need, type NeedType } from './needs/need.ts';
export { planReport } from './plan/plan.ts';
export {
  chargesOf,
  type Rehearsal,
  type RehearsedCharge,
  type RehearsedFigure,
  rehearse,
} from './plan/rehearse.ts';
export { specOf } from './plan/spec.ts';
export { PlanError, type Surroundings } from './plan/surroundings.ts';
export type { Plan, PlannedFigure, PlannedNeed } from './plan/types.ts';
