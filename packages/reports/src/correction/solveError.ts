/** Thrown if no optimal solution is found, so that uncorrected figures are never shown as corrected. */
export class SolveError extends Error {
  override readonly name = 'SolveError';
}
