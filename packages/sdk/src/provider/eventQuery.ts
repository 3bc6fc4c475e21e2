import type { EventQuery } from './events.ts';
import type { VerifiedRequisition } from './verify.ts';

/**
 * Returns the query for a requisition's events. For direct results and sketches, the query samples people. For the
 * share shuffle protocol, the query selects all people. This protocol takes its sample later, by each person's index in
 * the population.
 */
export function queryOf({ spec, selection, vidSampling, shareShuffle }: VerifiedRequisition): EventQuery {
  return {
    eventGroups: selection.events ?? [],
    vidSampling: shareShuffle ? EVERYBODY : vidSampling,
    modelLine: spec.modelLine,
  };
}
const EVERYBODY = { start: 0, width: 1 };
