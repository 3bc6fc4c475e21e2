/** Validates, creates, and updates populations. */
import { hash } from 'node:crypto';
import {
  ExchangeError,
  invalid,
  MAX_VIOLATIONS,
  type PopulationInput,
  type PopulationUpdate,
  populationBytes,
  populationSize,
  type Timestamp,
  type VidRange,
  type Violation,
} from '@measurement-exchange/contract';
import { nextVersion } from './time.ts';

export interface PopulationRecord {
  id: string;
  displayName: string;
  /** The ranges do not overlap and are in ascending order. The ranges, the size, and the fingerprint never change. */
  vidRanges: VidRange[];
  size: number;
  fingerprint: Uint8Array;
  /** A model line can belong to only one population. */
  modelLines: string[];
  /** Only one population can be the default. */
  isDefault: boolean;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

export function populationName(id: string): string {
  return `populations/${id}`;
}

export function newPopulation(id: string, input: PopulationInput, now: Timestamp): PopulationRecord {
  const vidRanges = ascending(input.vidRanges);
  const violations = [...rangeViolations(input.vidRanges), ...modelLineViolations(input.modelLines)];
  if (violations.length > 0) throw invalid(violations.slice(0, MAX_VIOLATIONS));
  return {
    id,
    displayName: input.displayName ?? '',
    vidRanges,
    ...summaryOf(vidRanges),
    modelLines: input.modelLines ?? [],
    isDefault: input.default ?? false,
    version: 1,
    createTime: now,
    updateTime: now,
  };
}

/** Replaces only the fields that are present in the input. */
export function updatePopulation(
  before: PopulationRecord,
  input: PopulationUpdate,
  now: Timestamp,
): PopulationRecord {
  const violations = modelLineViolations(input.modelLines);
  if (input.vidRanges !== undefined && !sameRanges(ascending(input.vidRanges), before.vidRanges)) {
    const description = 'are not those of the population, which never change: create another population';
    violations.push({ field: 'vidRanges', description });
  }
  if (violations.length > 0) throw invalid(violations.slice(0, MAX_VIOLATIONS));
  return {
    ...before,
    displayName: input.displayName ?? before.displayName,
    modelLines: input.modelLines ?? before.modelLines,
    isDefault: input.default ?? before.isDefault,
    ...nextVersion(before, now),
  };
}

export function noLongerDefault(before: PopulationRecord, now: Timestamp): PopulationRecord {
  return { ...before, isDefault: false, ...nextVersion(before, now) };
}

export function summaryOf(vidRanges: VidRange[]): Pick<PopulationRecord, 'size' | 'fingerprint'> {
  return {
    size: populationSize(vidRanges),
    fingerprint: hash('sha256', populationBytes(vidRanges), 'buffer'),
  };
}

/** Whether the ranges are in ascending order and without overlaps. */
export function isAscending(ranges: VidRange[]): boolean {
  return ranges.every(({ start, end }, i) => start <= end && (i === 0 || ranges[i - 1]!.end < start));
}

function ascending(ranges: VidRange[]): VidRange[] {
  return ranges.toSorted((a, b) => a.start - b.start);
}

function sameRanges(a: VidRange[], b: VidRange[]): boolean {
  return a.length === b.length && a.every(({ start, end }, i) => start === b[i]!.start && end === b[i]!.end);
}

/** Finds ranges that end before they start, or that overlap a range that starts earlier. */
function rangeViolations(ranges: VidRange[]): Violation[] {
  const violations: Violation[] = [];
  const order = ranges.map((_, i) => i).sort((a, b) => ranges[a]!.start - ranges[b]!.start);
  let reached = 0;
  let reaching = -1;
  for (const i of order) {
    const { start, end } = ranges[i]!;
    if (end < start)
      violations.push({ field: `vidRanges[${i}].end`, description: 'must not be before start' });
    if (start <= reached) {
      violations.push({ field: `vidRanges[${i}]`, description: `overlaps vidRanges[${reaching}]` });
    }
    if (end > reached) [reached, reaching] = [end, i];
  }
  return violations;
}

function modelLineViolations(modelLines: string[] = []): Violation[] {
  return modelLines.flatMap((line, i) =>
    modelLines.indexOf(line) === i
      ? []
      : [{ field: `modelLines[${i}]`, description: 'repeats an earlier one' }],
  );
}

/**
 * Throws if another population already has one of the model lines. `takers` lists those model lines and their populations.
 */
export function requireFreeModelLines(
  population: PopulationRecord,
  takers: { modelLine: string; population: string }[],
): void {
  const violations = takers.map(({ modelLine, population: taker }) => ({
    field: `modelLines[${population.modelLines.indexOf(modelLine)}]`,
    description: `belongs to ${populationName(taker)}`,
  }));
  if (violations.length === 0) return;
  throw new ExchangeError(
    'MODEL_LINE_TAKEN',
    'A model line belongs to at most one population: take it from the other one first.',
    {
      metadata: { existing: populationName(takers[0]!.population) },
      violations: violations.slice(0, MAX_VIOLATIONS),
    },
  );
}
