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
  type Subpopulation,
  type Timestamp,
  type VidRange,
  type Violation,
} from '@measurement-exchange/contract';
import { sameSubpopulations, storedSubpopulations, subpopulationViolations } from './subpopulations.ts';
import { nextVersion } from './time.ts';
import { ascending, isSameRange, rangeViolations } from './vidRanges.ts';

export interface PopulationRecord {
  id: string;
  displayName: string;
  /** The ranges are in ascending order and do not overlap. Ranges, size, and fingerprint never change. */
  vidRanges: VidRange[];
  /** No VID is in two subpopulations. Subpopulations are within the population's ranges, and never change. */
  subpopulations: Subpopulation[];
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
  const { subpopulations = [] } = input;
  const violations = [
    ...rangeViolations(input.vidRanges.map((range, i) => ({ ...range, field: `vidRanges[${i}]` }))),
    ...modelLineViolations(input.modelLines),
  ];
  if (violations.length === 0) violations.push(...subpopulationViolations(subpopulations, vidRanges));
  if (violations.length > 0) throw invalid(violations.slice(0, MAX_VIOLATIONS));
  return {
    id,
    displayName: input.displayName ?? '',
    vidRanges,
    subpopulations: storedSubpopulations(subpopulations),
    ...summaryOf(vidRanges),
    modelLines: input.modelLines ?? [],
    isDefault: input.default ?? false,
    version: 1,
    createTime: now,
    updateTime: now,
  };
}

/** Replaces only the fields that the input has. */
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
  if (
    input.subpopulations !== undefined &&
    !sameSubpopulations(input.subpopulations, before.subpopulations)
  ) {
    const description = 'are not those of the population, which never change: create another population';
    violations.push({ field: 'subpopulations', description });
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

/** Returns whether the ranges are in ascending order and do not overlap. */
export function isAscending(ranges: VidRange[]): boolean {
  return ranges.every(({ start, end }, i) => start <= end && (i === 0 || ranges[i - 1]!.end < start));
}

function sameRanges(a: VidRange[], b: VidRange[]): boolean {
  return a.length === b.length && a.every((range, i) => isSameRange(range, b[i]!));
}

function modelLineViolations(modelLines: string[] = []): Violation[] {
  return modelLines.flatMap((line, i) =>
    modelLines.indexOf(line) === i
      ? []
      : [{ field: `modelLines[${i}]`, description: 'repeats an earlier one' }],
  );
}

/**
 * Throws if one of the population's model lines already belongs to another population. `takers` lists these model
 * lines and the populations to which they belong.
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
