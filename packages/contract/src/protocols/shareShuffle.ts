/**
 * The entry point for threads that run the share shuffle protocol. It exports only what these threads need, because
 * loading the whole package would take longer than many of them run.
 */
export * from './sampledRegisters.ts';
export * from './shareShuffleLimits.ts';
