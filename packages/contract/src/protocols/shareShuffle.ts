/** What threads of share-shuffle use of the contract: loading all of it would take longer than many of them run. */
export * from './sampledRegisters.ts';
export * from './shareShuffleLimits.ts';
