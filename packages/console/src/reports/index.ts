/** Reports as pages and files show them. No browser is needed. */
export * from './charts.ts';
export { type Finding, findingsOf } from './findings.ts';
export { planView } from './planView.ts';
export type * from './types.ts';
export { measurementView, reportView } from './view.ts';
export * from './words.ts';
