/** The page sizes of requisitions and event groups, which differ from the page sizes of other lists. */

const DEFAULT = 10;
const MAX = 500;

/** Returns the page size to use. Clients of the public reference system expect these short pages. */
export function shortPage(pageSize: number): number {
  return pageSize === 0 ? DEFAULT : Math.min(pageSize, MAX);
}
