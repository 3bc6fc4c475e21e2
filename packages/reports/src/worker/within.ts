/** Runs corrections in another thread, and ends a correction that exceeds its time limit. */
import type { Answer } from '../correction/answers.ts';
import { SolveError } from '../correction/solveError.ts';
import { correctReport, type Report } from '../figures/report.ts';
import type { Plan } from '../plan/types.ts';

export interface Task {
  plan: Plan;
  answers: ReadonlyMap<string, Answer>;
}

/** The reply to a task. A thread cannot send the class of an error, so a SolveError is sent as its message. */
export type Outcome = { report: Report } | { unsolved: string };

export interface Limits {
  /** The time limit of the correction. Default: 60,000 ms. */
  limitMs?: number;
  signal?: AbortSignal;
}

const LIMIT_MS = 60_000;

/** Corrects the report of a task. The worker thread calls this function. */
export function outcomeOf({ plan, answers }: Task): Outcome {
  try {
    return { report: correctReport(plan, answers) };
  } catch (error) {
    if (error instanceof SolveError) return { unsolved: error.message };
    throw error;
  }
}

/**
 * Calls `start` to start a thread, and returns the thread's report. `start` returns a function that ends the thread.
 * Throws a SolveError if no solution is found within the time limit.
 */
export async function within(
  start: (done: (outcome: Outcome) => void, failed: (error: unknown) => void) => () => void,
  { limitMs = LIMIT_MS, signal }: Limits,
): Promise<Report> {
  signal?.throwIfAborted();
  const { promise, resolve, reject } = Promise.withResolvers<Outcome>();
  const timer = setTimeout(() => reject(new SolveError(tooSlow(limitMs))), limitMs);
  const onAbort = () => reject(signal!.reason);
  signal?.addEventListener('abort', onAbort);
  const stop = start(resolve, reject);
  try {
    const outcome = await promise;
    if ('unsolved' in outcome) throw new SolveError(outcome.unsolved);
    return outcome.report;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
    stop();
  }
}

function tooSlow(limitMs: number): string {
  return `The correction did not end within ${limitMs / 1000} s: ask for fewer periods, groups, or segments.`;
}
