/**
 * Runs verification steps, and reports the outcome of each step as soon as it is known. After a failure, only the steps
 * that need the failed step's value are skipped.
 */
import { ConsentError } from '@measurement-exchange/consent';

export interface VerificationStep {
  /** The party or subject that the step is about. */
  about?: string;
  step: string;
  /** Absent if the step was skipped because an earlier step failed. */
  holds?: boolean;
  /** Details about a passed step, or the reason that a step failed or was skipped. */
  detail: string;
}

/** The value that a step passes on to later steps, and a detail to show. */
export interface Checked<T> {
  value: T;
  detail?: string;
}

/** Thrown by a step whose check failed. */
export class DoesNotHold extends Error {}

/**
 * The names of errors that, like DoesNotHold and ConsentError, mean that a check failed. Any other error is rethrown,
 * because it means that the check could not run.
 */
const FAULTS = ['RefusalError', 'ResultRejected', 'QuestionRejected', 'CertificateFault'];

/** Runs checks and records a step for each. */
export class Checklist {
  readonly steps: VerificationStep[] = [];
  private readonly onStep: (step: VerificationStep) => void;
  private subject: string | undefined;

  constructor(onStep: (step: VerificationStep) => void = () => {}) {
    this.onStep = onStep;
  }

  about(subject: string): void {
    this.subject = subject;
  }

  /** Runs a step and returns its value, or undefined if the step failed. */
  async check<T>(step: string, run: () => Promise<Checked<T>> | Checked<T>): Promise<T | undefined> {
    try {
      const { value, detail = '' } = await run();
      this.record({ step, holds: true, detail });
      return value;
    } catch (error) {
      if (!isFault(error)) throw error;
      const code = 'code' in error && error.name !== 'CertificateFault' ? ` (${error.code})` : '';
      this.record({ step, holds: false, detail: `${error.message}${code}` });
      return undefined;
    }
  }

  /** Runs a step that needs values from earlier steps. Skips the step if a value is missing. */
  async checkWith<A extends unknown[], T>(
    step: string,
    needs: { [K in keyof A]: A[K] | undefined },
    run: (...needs: A) => Promise<Checked<T>> | Checked<T>,
  ): Promise<T | undefined> {
    if (needs.every((need) => need !== undefined)) return this.check(step, () => run(...(needs as A)));
    this.record({ step, detail: 'not checked, because an earlier step failed' });
    return undefined;
  }

  private record(step: VerificationStep): void {
    const recorded = { ...(this.subject !== undefined && { about: this.subject }), ...step };
    this.steps.push(recorded);
    this.onStep(recorded);
  }
}

function isFault(error: unknown): error is Error & { code?: string } {
  return (
    error instanceof DoesNotHold ||
    error instanceof ConsentError ||
    (error instanceof Error && FAULTS.includes(error.name))
  );
}
