/** The privacy charge, which both Liquid Legions protocols compute in the same way. */
export { chargeOf } from '../liquidLegions/charge.ts';
