export { createDevIssuer } from './auth/devIssuer.ts';
export { type BackupFacts, backup } from './backup/backup.ts';
export { restore } from './backup/restore.ts';
export { type Config, ConfigError, loadConfig } from './config.ts';
export { devKeyFile } from './dev/index.ts';
export { type Running, start, withDatabase } from './main.ts';
export { bindOperator, type RetentionCounts, runRetention } from './maintenance.ts';
export { type Ailment, CHECKS, doctor } from './sql/doctor.ts';
export { migrate } from './sql/migrate.ts';
