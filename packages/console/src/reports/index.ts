/** Computes and draws reports for pages and exported files. Needs no browser. */
export * from './charts.ts';
export { type Finding, findingsOf } from './findings.ts';
export { planView } from './planView.ts';
export type * from './types.ts';
export { measurementView, reportView } from './view.ts';
export * from './words.ts';
