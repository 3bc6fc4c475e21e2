import { loadConfig } from '@measurement-exchange/exchange/config';
import { type Ailment, CHECKS, doctor, withDatabase } from '@measurement-exchange/exchange/maintenance';
import { Command } from 'commander';
import { paint, print, printJson } from '../output.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check the database for inconsistencies (read-only)')
    .option('--json', 'print the findings as JSON')
    .action(async (options: { json?: boolean }) => {
      const ailments = await withDatabase(loadConfig(process.env), ({ owner }) =>
        doctor({ connection: owner }),
      );
      if (options.json) printJson({ checks: CHECKS.length, ailments });
      else printAilments(ailments);
      if (isIll(ailments)) process.exitCode = 1;
    });
}

export function printAilments(ailments: Ailment[], checks = CHECKS.length): void {
  if (ailments.length === 0) print(paint('green', `${checks} checks, all silent.`));
  for (const { check, severity, rows, meaning, remedy, examples } of ailments) {
    const title = severity === 'warning' ? paint('yellow', `${check} (warning)`) : paint('red', check);
    print(`${title}: ${meaning} ${rows} found: ${examples.join(', ')}\n  ${remedy}`);
  }
}

export function isIll(ailments: Ailment[]): boolean {
  return ailments.some(({ severity }) => severity === 'error');
}
