/**
 * A duchy: one program with an HTTP server (`face`), a herald, which follows changes at the exchange, and mills, which
 * compute stages.
 */
export {
  type DuchyConfig,
  DuchyConfigError,
  duchyConfig,
  examineDuchyConfig,
  readDuchyConfig,
} from './config/config.ts';
export { type FileMode, isLoopback, productionProblems } from './config/production.ts';
export { makeSecretsKey, readSecretsKey } from './config/secretsKey.ts';
export { ensureDatabase } from './database/create.ts';
export { DatabaseUnused, DUCHY_CHECKS, type DuchyProblem, examineDuchy } from './database/doctor.ts';
export { type RunningDuchy, type StartOptions, startDuchy } from './main.ts';
export { createLog } from './observability/log.ts';
export { type PeerAddress, peerAddress } from './peers/address.ts';
export { requireHealthy } from './peers/health.ts';
