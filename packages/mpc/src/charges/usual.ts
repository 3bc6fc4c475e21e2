/** The default limits of data providers. */
import type { PrivacyAmount } from './amounts.ts';

/** The smallest accepted epsilon if the provider does not configure one. */
export const MINIMUM_EPSILON = 1e-4;

/**
 * The default budget of a provider's agent in development, for each reference and day. The budget is large enough to
 * experiment with, but small enough to run out. Production has no default budget.
 */
export const DEVELOPMENT_BUDGET: PrivacyAmount = { epsilon: 10, delta: 1e-6, rho: 1 };
