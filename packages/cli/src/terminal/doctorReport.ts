/** Prints the findings of the checks that `mex doctor`, `mex admin doctor` and `mex restore` run on a database. */
import type { DoctorFinding } from '@measurement-exchange/exchange/maintenance';
import { paint, print } from './output.ts';

export function printAilments(ailments: DoctorFinding[], checks: number): void {
  if (ailments.length === 0) print(paint('green', `${checks} checks found nothing wrong.`));
  for (const { check, severity, rows, meaning, remedy, examples } of ailments) {
    const title = severity === 'warning' ? paint('yellow', `${check} (warning)`) : paint('red', check);
    print(`${title}: ${meaning} ${rows} found: ${examples.join(', ')}\n  ${remedy}`);
  }
}

export function isIll(ailments: DoctorFinding[]): boolean {
  return ailments.some(({ severity }) => severity === 'error');
}
