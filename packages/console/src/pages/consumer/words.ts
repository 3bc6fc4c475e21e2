/** Text about measurements. */
import type { MeasurementType } from '@measurement-exchange/contract';
import type { Question } from '@measurement-exchange/sdk';
import { dateRange } from '../../format.ts';
import { idOf } from '../../session/roles.ts';

const TYPES: Record<MeasurementType, string> = {
  REACH: 'Reach',
  REACH_AND_FREQUENCY: 'Reach and frequency',
  IMPRESSION: 'Impressions',
  DURATION: 'Watch time',
  POPULATION: 'Population',
};

export const typeWords = (type: MeasurementType | undefined) => (type ? TYPES[type] : 'Measurement');

/**
 * Returns the measurement's title. If the question is not decrypted or has no title, returns the reference or the ID.
 */
export function titleOf(
  { name, reference }: { name: string; reference?: string | undefined },
  question: Question | undefined,
): string {
  return question?.title || reference || idOf(name);
}

export function daysOf(question: Question | undefined): string | undefined {
  const intervals = (question?.dataProviders ?? []).flatMap(({ eventGroups = [], population }) =>
    [...eventGroups, population ?? {}].flatMap(({ interval }) => interval ?? []),
  );
  if (intervals.length === 0) return undefined;
  const starts = intervals.map(({ start }) => String(start)).sort();
  const ends = intervals.map(({ end }) => String(end)).sort();
  return dateRange(starts[0]!, ends.at(-1)!);
}
