/** A duchy: one program with a face (HTTP server), a herald (follows the exchange) and mills (compute stages). */
export { type DuchyConfig, DuchyConfigError, duchyConfig, readDuchyConfig } from './config/config.ts';
export { type FileMode, isLoopback, productionProblems } from './config/production.ts';
export { readSecretsKey } from './config/secretsKey.ts';
export { ensureDatabase } from './database/create.ts';
export { DUCHY_CHECKS, type DuchyProblem, examineDuchy } from './database/doctor.ts';
export { type RunningDuchy, type StartOptions, startDuchy } from './main.ts';
export { createLog } from './observability/log.ts';
