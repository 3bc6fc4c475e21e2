/** Entry point for charges: the exact privacy cost of a measurement, and the budgets to which this cost is charged. */
export * from './charges/amounts.ts';
export * from './charges/computation.ts';
export * from './charges/cost.ts';
export * from './charges/days.ts';
export * from './charges/intervals.ts';
export * from './charges/releases.ts';
export * from './charges/slices.ts';
export * from './charges/usual.ts';
