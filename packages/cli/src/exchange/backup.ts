import { loadConfig } from '@measurement-exchange/exchange/config';
import { type BackupFacts, backup } from '@measurement-exchange/exchange/maintenance';
import { Command } from 'commander';
import { paint, print, printJson } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';

export function backupCommand(): Command {
  return new Command('backup')
    .description('back up the embedded database, while the exchange runs or not')
    .argument('<dir>', 'a new directory for the backup, in one that exists')
    .option('--json', 'print what was backed up as JSON')
    .addHelpText(
      'after',
      `
The backup holds everything that was acknowledged before it began, and the keys of development mode. It is as secret
as the database. Settings (MEX_CONFIG) and TLS keys are not in it. The directory appears when the backup is complete
and on disk; until then it is <dir>.partial. With DATABASE_URL use that server's own tools.

  mkdir -p backups && mex backup backups/$(date +%F)
  MEX_DATA_DIR=.mex-restored mex restore backups/2027-01-31`,
    )
    .action(async (directory: string, options: { json?: boolean }) => {
      const progress = startProgress('backup', 'MB');
      const facts = await backup(loadConfig(process.env), directory, progress.update);
      progress.end();
      if (options.json) printJson({ directory, ...facts });
      else print(`${paint('green', `${directory} is complete`)}: ${describe(facts)}.`);
    });
}

export function describe({ fileCount, bytes, postgresVersion, schemaVersion }: BackupFacts): string {
  const size = `${fileCount} files, ${(bytes / 1e6).toFixed(1)} MB`;
  return `${size}, PostgreSQL ${postgresVersion}, schema ${schemaVersion}`;
}
