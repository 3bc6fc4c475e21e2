/** The privacy parameters of the demo. They are weak, because the people in the demo are made up. */

/**
 * Each provider's privacy budget per day and event group reference (the provider's own ID for the group's events). Only
 * one measurement exceeds this budget, and the demo expects that measurement to be refused.
 */
export const BUDGET = { epsilon: 1, delta: 1e-4, rho: 0.7 };

/** Privacy parameters that add noise with a standard deviation of 50 people to a reach. */
export const USUAL = { epsilon: 0.1, delta: 1e-9 };

/**
 * Privacy parameters that add noise with a standard deviation below one person. They cost more than the daily budget.
 */
export const TOO_CLOSE = { epsilon: 15, delta: 1e-9 };

/**
 * Privacy parameters for measurements with sketches. Each register of a sketch represents many people, which amplifies
 * the noise on the registers. To make up for this, these parameters add less noise than USUAL.
 */
export const SKETCHED = { epsilon: 2, delta: 1e-7 };

/**
 * Privacy parameters for the noise that hides unreleased values from the aggregator. They are the weakest that parties
 * accept, so that duchies add few noise registers.
 */
export const HIDING = { epsilon: 1, delta: 1e-5 };

export const ABOUT_PRIVACY =
  'The people of the demo are made up, so its privacy parameters are weaker than real people need: a daily budget of ' +
  `delta ${BUDGET.delta} and rho ${BUDGET.rho}, and an epsilon of ${SKETCHED.epsilon} for sketches.`;
