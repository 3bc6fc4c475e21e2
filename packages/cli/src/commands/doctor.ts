import { CHECKS, doctor, loadConfig, withDatabase } from '@measurement-exchange/exchange';
import { Command } from 'commander';
import { paint, print, printJson } from '../output.ts';

export function doctorCommand(): Command {
  return new Command('doctor')
    .description('audit the database for anything that should not be (reads only)')
    .option('--json', 'print the findings as JSON')
    .action(async (options: { json?: boolean }) => {
      const ailments = await withDatabase(loadConfig(process.env), ({ owner }) =>
        doctor({ connection: owner }),
      );
      if (options.json) printJson({ checks: CHECKS.length, ailments });
      else if (ailments.length === 0) print(paint('green', `${CHECKS.length} checks, all silent.`));
      else {
        for (const { check, severity, rows, meaning, remedy, examples } of ailments) {
          print(
            `${paint(severity === 'error' ? 'red' : 'yellow', check)}: ${meaning} ${rows} found: ${examples.join(', ')}\n  ${remedy}`,
          );
        }
      }
      if (ailments.some((ailment) => ailment.severity === 'error')) process.exitCode = 1;
    });
}
