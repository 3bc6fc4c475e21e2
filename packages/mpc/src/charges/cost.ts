/**
 * Computes the charges of one measurement at one data provider. A provider's agent uses these functions to charge a
 * measurement. A consumer uses these functions to predict the charges, in measurement plans and in report rehearsals
 * (which predict a report's charges and errors).
 */
import type { PlainSpec } from '@measurement-exchange/contract';
import type { MpcConfig, MpcProtocol } from '../protocols.ts';
import { costInUnits, type Units } from './amounts.ts';
import { duchyCost } from './computation.ts';
import { daysOf } from './days.ts';
import { directCost, type NoiseChoice, releasesOf } from './releases.ts';

/** The protocol that duchies run for a measurement, and its parameters. */
export interface ComputedBy {
  protocol: MpcProtocol;
  config: MpcConfig<MpcProtocol>;
}

/**
 * Returns the cost that is charged to each reference and UTC day. If `computed` is undefined, each data provider
 * computes its own result with the noise of `choice`. Throws a RangeError if no noise can meet the privacy parameters.
 */
export function measurementCost(
  spec: PlainSpec,
  computed: ComputedBy | undefined,
  dataProviders: number,
  choice?: NoiseChoice,
): Units {
  if (computed === undefined) return directCost(spec, choice);
  const params = releasesOf(spec).map((release) => release.params);
  return costInUnits(duchyCost(params, computed, dataProviders));
}

/**
 * The events of one reference in an interval. A reference is the value that selects an event group's events in the
 * provider's data.
 */
export interface ChargedEvents {
  reference: string;
  interval: { start: Date; end: Date };
}

/** A reference and UTC day to charge. Several `ChargedEvents` can select the same reference and day. */
export interface ChargedPlace {
  reference: string;
  day: string;
  /** The indexes of all `ChargedEvents` that select this reference and day. */
  events: number[];
  /** The index of the first of these `ChargedEvents`, and the index of `day` among the days of its interval. */
  at: [event: number, day: number];
}

/** Returns each reference and UTC day once, even if several event groups select it. */
export function chargedPlaces(events: readonly ChargedEvents[]): ChargedPlace[] {
  const places = new Map<string, ChargedPlace>();
  for (const [i, { reference, interval }] of events.entries()) {
    for (const [n, day] of daysOf(interval).entries()) {
      const key = `${day} ${reference}`;
      const known = places.get(key);
      if (known === undefined) places.set(key, { reference, day, at: [i, n], events: [i] });
      else known.events.push(i);
    }
  }
  return [...places.values()];
}
