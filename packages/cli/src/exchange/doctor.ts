import { loadConfig } from '@measurement-exchange/exchange/config';
import { CHECKS, doctor, withDatabase } from '@measurement-exchange/exchange/maintenance';
import { Command } from 'commander';
import { isIll, printAilments } from '../terminal/doctorReport.ts';
import { printJson } from '../terminal/output.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check the database for inconsistencies (read-only)')
    .option('--json', 'print the findings as JSON')
    .action(async (options: { json?: boolean }) => {
      const ailments = await withDatabase(loadConfig(process.env), ({ owner }) =>
        doctor({ connection: owner }),
      );
      if (options.json) printJson({ checks: CHECKS.length, ailments });
      else printAilments(ailments, CHECKS.length);
      if (isIll(ailments)) process.exitCode = 1;
    });
}
