/** Entry point for charges: the privacy cost of a measurement, exact to the last digit, and the budgets it is charged to. */
export * from './charges/amounts.ts';
export * from './charges/computation.ts';
export * from './charges/cost.ts';
export * from './charges/days.ts';
export * from './charges/intervals.ts';
export * from './charges/releases.ts';
export * from './charges/slices.ts';
export * from './charges/usual.ts';
