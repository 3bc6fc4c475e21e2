/**
 * The entry point for threads that run the share shuffle protocol. It exports only what these threads need, because
 * loading the whole package would often take longer than a thread's work.
 */
export * from './sampledRegisters.ts';
export * from './shareShuffleLimits.ts';
