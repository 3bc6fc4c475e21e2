/** Words for measurements. */
import type { Measurement, MeasurementType } from '@measurement-exchange/contract';
import type { Question } from '@measurement-exchange/sdk';
import { dateRange } from '../../parts/format.ts';
import { idOf } from '../../session/roles.ts';

const TYPES: Record<MeasurementType, string> = {
  REACH: 'Reach',
  REACH_AND_FREQUENCY: 'Reach and frequency',
  IMPRESSION: 'Impressions',
  DURATION: 'Watch time',
  POPULATION: 'Population',
};

export const typeWords = (type: MeasurementType | undefined) => (type ? TYPES[type] : 'Measurement');

/** The title of a measurement: the consumer's own, or what is known without keys. */
export function titleOf(
  { name, reference }: { name: string; reference?: string | undefined },
  question: Question | undefined,
): string {
  return question?.title || reference || idOf(name);
}

/** All days that a question asks about, or undefined if it names none. */
export function daysOf(question: Question | undefined): string | undefined {
  const intervals = (question?.dataProviders ?? []).flatMap(({ eventGroups = [], population }) =>
    [...eventGroups, population ?? {}].flatMap(({ interval }) => interval ?? []),
  );
  if (intervals.length === 0) return undefined;
  const starts = intervals.map(({ start }) => String(start)).sort();
  const ends = intervals.map(({ end }) => String(end)).sort();
  return dateRange(starts[0]!, ends.at(-1)!);
}

/** The protocols in plain words. */
export function protocolWords(
  config: Measurement['protocolConfig'],
): { name: string; meaning: string } | undefined {
  if (config === undefined) return undefined;
  if (config.honestMajorityShareShuffle) {
    return {
      name: 'Share shuffle',
      meaning:
        'Publishers split their counts into two random halves. Two duchies add noise and shuffle, the third one counts. Exact apart from the noise.',
    };
  }
  if (config.liquidLegionsV2 ?? config.reachOnlyLiquidLegionsV2) {
    return {
      name: 'Sketches',
      meaning:
        'Publishers send encrypted sketches of the people they reached. The duchies combine them, add noise, and take the encryption off one after the other (Liquid Legions).',
    };
  }
  return {
    name: 'Each publisher alone',
    meaning:
      'Each publisher counts its own people and adds noise. People whom several of them reached are not recognized (direct).',
  };
}
