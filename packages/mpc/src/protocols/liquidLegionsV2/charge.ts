/** Both protocols of a ring are charged for what its aggregator sees. */
export { chargeOf } from '../liquidLegions/charge.ts';
