/** Thrown if no solution is found, or if a solution is not optimal. Uncorrected figures are never shown as corrected. */
export class SolveError extends Error {
  override readonly name = 'SolveError';
}
