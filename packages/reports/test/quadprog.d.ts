declare module 'quadprog' {
  /**
   * All arrays start at index 1. Minimizes ½ x'Dx − d'x subject to A'x ≥ b; the first `meq` constraints are equalities.
   */
  export function solveQP(
    D: number[][],
    d: number[],
    A: number[][],
    b?: number[],
    meq?: number,
  ): { solution: number[]; Lagrangian: number[]; message: string };
}
