/** A checklist whose steps are printed as they pass or fail. */
import { ConsentError } from '@measurement-exchange/sdk';
import { Failed, note, paint, print, printJson, visible } from '../terminal/output.ts';

interface Step {
  step: string;
  /** Absent if the step was skipped because an earlier one failed. */
  holds?: boolean;
  detail: string;
}

export interface Checklist {
  /** Runs a step and returns its value for the steps that depend on it. `detail` is shown beside the step. */
  check<T>(step: string, run: () => Promise<Checked<T>> | Checked<T>): Promise<T | undefined>;
  /** The same for a step that depends on values of earlier ones: skipped where one of them is missing. */
  checkWith<A extends unknown[], T>(
    step: string,
    needs: { [K in keyof A]: A[K] | undefined },
    run: (...needs: A) => Promise<Checked<T>> | Checked<T>,
  ): Promise<T | undefined>;
  /** Prints the heading of the next steps. */
  about(title: string): void;
  /** Prints the verdict; throws when a step does not hold. */
  end(what: string): void;
}

export interface Checked<T> {
  value: T;
  detail?: string;
}

/** A failed check, as opposed to an error that prevented it. */
export class DoesNotHold extends Error {}

export function startChecklist({ json }: { json?: boolean }): Checklist {
  const steps: (Step & { about?: string })[] = [];
  let title: string | undefined;

  const record = (step: Step) => {
    steps.push({ ...(title !== undefined && { about: title }), ...step });
    if (json) return;
    const mark =
      step.holds === undefined ? paint('dim', '–') : step.holds ? paint('green', '✓') : paint('red', '✗');
    print(`${mark} ${step.step}${step.detail === '' ? '' : `: ${visible(step.detail)}`}`);
  };

  const list: Checklist = {
    async check(step, run) {
      try {
        const { value, detail = '' } = await run();
        record({ step, holds: true, detail });
        return value;
      } catch (error) {
        if (!isFault(error)) throw error;
        const code = 'code' in error ? ` (${error.code})` : '';
        record({ step, holds: false, detail: `${error.message}${code}` });
        return undefined;
      }
    },
    async checkWith(step, needs, run) {
      if (needs.some((need) => need === undefined)) {
        record({ step, detail: 'not checked, for want of a step before' });
        return undefined;
      }
      return list.check(step, () => run(...(needs as Parameters<typeof run>)));
    },
    about(text) {
      title = text;
      if (!json) print(`\n${paint('bold', text)}`);
    },
    end(what) {
      const holds = steps.every((step) => step.holds === true);
      if (json) printJson({ verified: what, holds, steps });
      else if (holds) print(`\n${paint('green', 'Everything holds.')}`);
      if (!holds) {
        const failed = steps.filter((step) => step.holds === false).length;
        if (!json) note('');
        throw new Failed(
          2,
          `${what} does not hold: ${failed} of ${steps.length} steps failed. Do not rely on it.`,
        );
      }
    },
  };
  return list;
}

/** Errors of the SDK with a code or a justification are failed checks; every other error prevented the check. */
function isFault(error: unknown): error is Error & { code?: string } {
  return (
    error instanceof DoesNotHold ||
    error instanceof ConsentError ||
    (error instanceof Error && ['RefusalError', 'ResultRejected', 'CertificateFault'].includes(error.name))
  );
}
