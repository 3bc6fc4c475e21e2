/**
 * The entry point for threads that compute share shuffle. Loading the whole package would take longer than many of
 * these threads run.
 */
export * from './sampledRegisters.ts';
export * from './shareShuffleLimits.ts';
