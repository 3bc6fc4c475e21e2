/**
 * Decides how often a test repeats something. By default, `npm test` uses a tenth of the repetitions of `npm run
 * stress`, which sets MEX_STRESS=1. MEX_STRESS=20 repeats twenty times as often as MEX_STRESS=1.
 */
const stress = Number(process.env.MEX_STRESS ?? 0);

export const isStress = stress > 0;

/**
 * Whether Stryker runs the tests, once for each of thousands of mutants. If so, tests of the largest inputs are
 * skipped, because each takes seconds, and other tests kill almost all mutants that the skipped tests would kill.
 */
export const isMutationRun = process.env.STRYKER_MUTATOR_WORKER !== undefined;

/** Returns the number of rounds: `full` times MEX_STRESS in stress runs, and `usual` otherwise. */
export function rounds(full: number, usual = Math.ceil(full / 10)): number {
  return isStress ? full * stress : usual;
}
