/** The roles and registers of Liquid Legions v2, and the measurement types that it supports. */
export * from '../liquidLegions/config.ts';

export const computes = ['REACH_AND_FREQUENCY'] as const;
