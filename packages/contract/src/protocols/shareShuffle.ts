/** The part of this package that threads of share-shuffle load. Loading the whole package takes longer than many threads run. */
export * from './sampledRegisters.ts';
export * from './shareShuffleLimits.ts';
