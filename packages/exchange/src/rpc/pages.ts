/** Page sizes that differ from those of the other lists. */

const DEFAULT = 10;
const MAX = 500;

/** Clients of the public reference system expect short pages of requisitions and event groups. */
export function shortPage(pageSize: number): number {
  return pageSize === 0 ? DEFAULT : Math.min(pageSize, MAX);
}
