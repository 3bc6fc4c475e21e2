/** The duchies of Liquid Legions v2, and the types of measurements that it computes. */
export * from '../liquidLegions/config.ts';

export const computes = ['REACH_AND_FREQUENCY'] as const;
