/**
 * Checks the reserved ranges of messages and enums, and the extension ranges of messages. The fields that a message
 * itself declares and the values of an enum must not use numbers in these ranges.
 */
import type { EnumProto, MessageProto, Path, Report } from './model.ts';

const MAX_FIELD_NUMBER = 536_870_911;
/** Protobuf reserves these numbers for its implementation. */
const IMPLEMENTATION = { from: 19_000, to: 19_999 };

interface NumberRange {
  from: number;
  to: number;
  kind: 'reserved' | 'extension';
  member: string;
}

/** Sorts ranges for binary search, because a set may have thousands of ranges and fields. */
export class Ranges {
  private readonly sorted: NumberRange[];

  constructor(ranges: NumberRange[]) {
    this.sorted = ranges.sort((a, b) => a.from - b.from);
  }

  kindOf(number: number): NumberRange['kind'] | undefined {
    let low = 0;
    let high = this.sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.sorted[middle]!.from <= number) low = middle + 1;
      else high = middle;
    }
    const range = this.sorted[low - 1];
    return range !== undefined && number <= range.to ? range.kind : undefined;
  }

  reportOverlaps(path: Path, report: Report): this {
    for (let i = 1; i < this.sorted.length; i++) {
      const [before, range] = [this.sorted[i - 1]!, this.sorted[i]!];
      if (range.from <= before.to) report.add(path, range.member, `overlaps ${before.member}`);
    }
    return this;
  }
}

const NONE = new Ranges([]);

export function messageRanges({ extensionRange, reservedRange }: MessageProto): Ranges {
  if (extensionRange === undefined && reservedRange === undefined) return NONE;
  const of = (kind: NumberRange['kind'], list: MessageProto['reservedRange'] = []) =>
    list.map(({ start = 0, end = 0 }, i) => ({
      from: start,
      to: end - 1,
      kind,
      member: `${kind}Range[${i}]`,
    }));
  return new Ranges([...of('extension', extensionRange), ...of('reserved', reservedRange)]);
}

export function checkMessageRanges(proto: MessageProto, path: Path, report: Report): Ranges {
  for (const member of ['extensionRange', 'reservedRange'] as const) {
    proto[member]?.forEach(({ start = 0, end = 0 }, i) => {
      if (start < 1 || end <= start || end - 1 > MAX_FIELD_NUMBER) {
        report.add(path, `${member}[${i}]`, `must run from 1 or above to at most ${MAX_FIELD_NUMBER}`);
      }
    });
  }
  return messageRanges(proto).reportOverlaps(path, report);
}

export function enumRanges({ reservedRange }: EnumProto): Ranges {
  if (reservedRange === undefined) return NONE;
  return new Ranges(
    reservedRange.map(({ start = 0, end = 0 }, i) => ({
      from: start,
      to: end,
      kind: 'reserved',
      member: `reservedRange[${i}]`,
    })),
  );
}

export function checkEnumRanges(proto: EnumProto, path: Path, report: Report): Ranges {
  proto.reservedRange?.forEach(({ start = 0, end = 0 }, i) => {
    if (end < start) report.add(path, `reservedRange[${i}]`, 'ends before it starts');
  });
  return enumRanges(proto).reportOverlaps(path, report);
}

/** Returns the reason why a field must not have this number, or undefined if the number is allowed. */
export function fieldNumberFault(number: number): string | undefined {
  if (number < 1 || number > MAX_FIELD_NUMBER) return `must be from 1 to ${MAX_FIELD_NUMBER}`;
  if (number >= IMPLEMENTATION.from && number <= IMPLEMENTATION.to) {
    return `must not be from ${IMPLEMENTATION.from} to ${IMPLEMENTATION.to}, which protobuf reserves`;
  }
  return undefined;
}
