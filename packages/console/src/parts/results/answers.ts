/** Selects the figure in a result that answers the question, with its unit and label. */
import type { MeasurementResult } from '@measurement-exchange/sdk';
import { counts, type Figure, HOURS, IMPRESSIONS, PEOPLE, type Unit } from '../../charts/index.ts';
import type { Interval } from '../../format.ts';
import { idOf } from '../../session/roles.ts';

export type NameOf = (resource: string) => string;

/** An estimate in JSON, where null means infinity. */
export interface JsonEstimate {
  value: number;
  interval: readonly [low: number | null, high: number | null];
}

export interface Answer {
  /** The text above the figure, such as `People reached by Streamly`. */
  label: string;
  figure: Figure;
  unit: Unit;
}

export function figureOf({ value, interval: [low, high] }: JsonEstimate): Figure & { interval: Interval } {
  return { value, interval: [low ?? 0, high ?? Number.POSITIVE_INFINITY] };
}

/**
 * Characters that affect the direction of text. Without these characters, a name cannot reorder the words around it.
 */
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/**
 * Formats names as a list: `Streamly, Chirper and Dailynews`. If there are more than five, lists four and counts the
 * rest.
 */
export function listOf(names: readonly string[]): string {
  const short = names.map((name) => {
    const plain = name.replace(DIRECTIONS, '');
    return plain.length > 60 ? `${plain.slice(0, 60)}…` : plain;
  });
  if (short.length > 5) return `${short.slice(0, 4).join(', ')} and ${short.length - 4} others`;
  return [short.slice(0, -1).join(', '), ...short.slice(-1)].filter((part) => part !== '').join(' and ');
}

/**
 * Returns the figure that answers the question. Returns undefined for the reach of several publishers that each counted
 * only their own people. Such counts do not tell how many people were reached by more than one publisher.
 */
export function answerOf(result: MeasurementResult, nameOf: NameOf = idOf): Answer | undefined {
  const { total, dataProviders } = result;
  const everyone = listOf(dataProviders.map(({ name }) => nameOf(name)));
  if (total.deduplicated?.reach) {
    const once = dataProviders.length > 1 ? ', each counted once' : '';
    return {
      label: `People reached by ${everyone}${once}`,
      figure: figureOf(total.deduplicated.reach),
      unit: PEOPLE,
    };
  }
  if (total.impressions) {
    return { label: `Impressions at ${everyone}`, figure: figureOf(total.impressions), unit: IMPRESSIONS };
  }
  if (total.watchDurationSeconds) {
    const { figure, unit } = timeOf(total.watchDurationSeconds);
    return { label: `${unit.name} watched at ${everyone}`, figure, unit };
  }
  const [first, ...others] = dataProviders;
  if (first?.population) {
    return {
      label: `People in the population, as ${everyone} counted them`,
      figure: figureOf(first.population),
      unit: PEOPLE,
    };
  }
  if (first?.reach && others.length === 0) {
    return { label: `People reached by ${everyone}`, figure: figureOf(first.reach), unit: PEOPLE };
  }
  return undefined;
}

const MINUTES = counts('Minutes');
const SECONDS = counts('Seconds');

/**
 * Converts seconds to the largest unit in which `like` is at least 100, or leaves them in seconds. Pass the same `like`
 * for figures that need the same unit.
 */
export function timeOf(seconds: JsonEstimate, like = seconds): { figure: Figure; unit: Unit } {
  const [size, unit] =
    like.value >= 360_000 ? [3600, HOURS] : like.value >= 6000 ? [60, MINUTES] : [1, SECONDS];
  const { value, interval } = figureOf(seconds);
  return { figure: { value: value / size, interval: [interval[0] / size, interval[1] / size] }, unit };
}
