/** Prints verification steps as they pass or fail, and then the verdict. */
import type { VerificationStep } from '@measurement-exchange/sdk';
import { Failed, note, paint, print, printJson, visible } from '../terminal/output.ts';

/**
 * Returns a function that prints a step, with a heading before the first step about each subject. If `json` is set, the
 * function prints nothing.
 */
export function stepPrinter({ json }: { json?: boolean }): (step: VerificationStep) => void {
  let heading: string | undefined;
  return ({ about, step, holds, detail }) => {
    if (json) return;
    if (about !== undefined && about !== heading) print(`\n${paint('bold', about)}`);
    heading = about;
    const mark = holds === undefined ? paint('dim', '–') : holds ? paint('green', '✓') : paint('red', '✗');
    print(`${mark} ${step}${detail === '' ? '' : `: ${visible(detail)}`}`);
  };
}

export function printVerdict(what: string, steps: VerificationStep[], { json }: { json?: boolean }): void {
  const holds = steps.every((step) => step.holds === true);
  if (json) printJson({ verified: what, holds, steps });
  else if (holds) print(`\n${paint('green', 'Everything holds.')}`);
  if (holds) return;
  const failed = steps.filter((step) => step.holds === false).length;
  if (!json) note('');
  throw new Failed(2, `${what} does not hold: ${failed} of ${steps.length} steps failed. Do not rely on it.`);
}
