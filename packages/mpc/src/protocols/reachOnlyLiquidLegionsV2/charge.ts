/** The charge is for everything that the aggregator of a ring sees, in both protocols alike. */
export { chargeOf } from '../liquidLegions/charge.ts';
