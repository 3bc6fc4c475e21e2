/**
 * The entry point for threads that compute share shuffle. Many of these threads run for less time than loading the
 * whole package would take.
 */
export * from './sampledRegisters.ts';
export * from './shareShuffleLimits.ts';
