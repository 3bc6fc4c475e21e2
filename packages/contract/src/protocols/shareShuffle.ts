/** The part of this package for share-shuffle threads. Loading all of it takes longer than many threads run. */
export * from './sampledRegisters.ts';
export * from './shareShuffleLimits.ts';
