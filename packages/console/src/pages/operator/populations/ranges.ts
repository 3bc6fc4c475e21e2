/** Parses ranges of virtual person IDs (VIDs). */
import { MAX_VID, type VidRange } from '@measurement-exchange/contract';

/**
 * Parses ranges such as `1-1000000`, separated by line breaks or commas. Throws an error that names the invalid range.
 */
export function parseRanges(text: string): VidRange[] {
  const lines = text.split(/[\n,]/).map((line) => line.trim());
  const ranges = lines.filter((line) => line !== '').map(parseRange);
  if (ranges.length === 0) throw new Error('Give at least one range, such as 1-1000000.');
  const sorted = ranges.toSorted((a, b) => a.start - b.start);
  const overlap = sorted.findIndex((range, i) => i > 0 && range.start <= sorted[i - 1]!.end);
  if (overlap > 0) throw new Error(`${words(sorted[overlap - 1]!)} and ${words(sorted[overlap]!)} overlap.`);
  return sorted;
}

function parseRange(line: string): VidRange {
  const [, start, end] = /^(\d+)\s*[-–]\s*(\d+)$/.exec(line.replaceAll('_', '')) ?? [];
  if (start === undefined)
    throw new Error(`“${line}” is not a range: write the first and the last, such as 1-1000000.`);
  const range = { start: Number(start), end: Number(end) };
  if (range.start < 1 || range.end > MAX_VID) throw new Error(`${words(range)} is not within 1-${MAX_VID}.`);
  if (range.start > range.end) throw new Error(`${words(range)} ends before it starts.`);
  return range;
}

const words = ({ start, end }: VidRange) => `${start}-${end}`;
