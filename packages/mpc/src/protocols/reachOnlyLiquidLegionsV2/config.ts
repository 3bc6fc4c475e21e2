/** The duchies of reach-only Liquid Legions v2, and the types of measurements that it computes. */
export * from '../liquidLegions/config.ts';

export const computes = ['REACH'] as const;
