export { binariesVersion } from './binaries.ts';
export { giveCluster, hasCluster, unfinished } from './cluster.ts';
export { acquireDataDirLock, DataDirInUse, type DataDirLock } from './lock.ts';
export { type EmbeddedPostgres, type StartOptions, startPostgres } from './server.ts';
