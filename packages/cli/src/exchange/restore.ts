import { loadConfig } from '@measurement-exchange/exchange/config';
import { CHECKS, restore } from '@measurement-exchange/exchange/maintenance';
import { Command } from 'commander';
import { isIll, printAilments } from '../terminal/doctorReport.ts';
import { paint, print, printJson } from '../terminal/output.ts';
import { startProgress } from '../terminal/progress.ts';
import { describe } from './backup.ts';

export function restoreCommand(): Command {
  return new Command('restore')
    .description('create a data directory from a backup, and check it')
    .argument('<dir>', 'a backup that mex backup made')
    .option('--json', 'print what was restored, and what the doctor found, as JSON')
    .addHelpText(
      'after',
      `
Goes to MEX_DATA_DIR, which must have no database yet. Every file is checked against the manifest of the backup; then
PostgreSQL starts once, recovers to the moment the backup ended, the doctor looks through it, and PostgreSQL stops.

  MEX_DATA_DIR=.mex-restored mex restore backups/2027-01-31
  MEX_DATA_DIR=.mex-restored npm start`,
    )
    .action(async (directory: string, options: { json?: boolean }) => {
      const config = loadConfig(process.env);
      const progress = startProgress('restore', 'MB');
      const { ailments, ...facts } = await restore(config, directory, progress.update);
      progress.end();
      if (options.json) printJson({ dataDir: config.dataDir, ...facts, ailments });
      else {
        print(
          `${paint('green', `${config.dataDir} is restored`)} from the backup of ${facts.time}: ${describe(facts)}.`,
        );
        printAilments(ailments, CHECKS.length);
      }
      if (isIll(ailments)) process.exitCode = 1;
    });
}
