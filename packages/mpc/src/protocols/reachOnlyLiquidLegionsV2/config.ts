/** The roles and registers of reach-only Liquid Legions v2, and the measurement types that it supports. */
export * from '../liquidLegions/config.ts';

export const computes = ['REACH'] as const;
