/** The part of the contract that threads of share-shuffle load: to load all of it takes longer than many of them run. */
export * from './sampledRegisters.ts';
export * from './shareShuffleLimits.ts';
