/**
 * Thrown if the solver finds no optimal solution. Without this error, a report could show wrong figures as corrected.
 */
export class SolveError extends Error {
  override readonly name = 'SolveError';
}
