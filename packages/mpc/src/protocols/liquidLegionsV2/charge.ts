/** The privacy charge. Both Liquid Legions protocols charge for everything that the aggregator sees. */
export { chargeOf } from '../liquidLegions/charge.ts';
