/** Compares a message's or enum's reserved numbers and names. */
import type { MessageProto, RangeProto } from '../descriptor/model.ts';
import { type ChangeKind, type Changes, short } from './changes.ts';

type Reserving = Pick<MessageProto, 'reservedRange' | 'reservedName'>;

/**
 * Reports numbers and names that are no longer reserved. If `closed` is true, ranges include their ends, as in enums.
 */
export function compareReserved(
  path: string,
  before: Reserving,
  after: Reserving,
  changes: Changes,
  closed = false,
): void {
  const ranges = [before.reservedRange, after.reservedRange] as const;
  compareRanges('RESERVED_REMOVED', path, 'no longer reserves', ...ranges, changes, closed);
  const names = new Set(after.reservedName);
  for (const name of before.reservedName ?? []) {
    if (!names.has(name)) changes.add('RESERVED_REMOVED', path, `no longer reserves the name ${short(name)}`);
  }
}

/** Reports each old range that the new ranges do not cover completely. */
export function compareRanges(
  kind: ChangeKind,
  path: string,
  what: string,
  before: RangeProto[] = [],
  after: RangeProto[] = [],
  changes: Changes,
  closed = false,
): void {
  // Make ends exclusive, so that an adjacent range starts where the previous range ends.
  const end = (range: RangeProto) => (range.end ?? 0) + (closed ? 1 : 0);
  const start = (range: RangeProto) => range.start ?? 0;
  const covering = after.toSorted((a, b) => start(a) - start(b));
  let next = 0;
  for (const range of before.toSorted((a, b) => start(a) - start(b))) {
    while (next < covering.length && end(covering[next]!) <= start(range)) next++;
    let covered = start(range);
    for (let i = next; i < covering.length && start(covering[i]!) <= covered && covered < end(range); i++) {
      covered = end(covering[i]!);
    }
    if (covered >= end(range)) continue;
    const last = end(range) - 1;
    const numbers = last === start(range) ? `${last}` : `${start(range)} to ${last}`;
    changes.add(kind, path, `${what} ${numbers}`);
  }
}
