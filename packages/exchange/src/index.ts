export { createDevIssuer } from './auth/devIssuer.ts';
export { type Config, ConfigError, loadConfig } from './config.ts';
export { devKeyFile } from './dev/index.ts';
export { type Running, start, withDatabase } from './main.ts';
export { CHECKS, doctor } from './sql/doctor.ts';
export { migrate } from './sql/migrate.ts';
