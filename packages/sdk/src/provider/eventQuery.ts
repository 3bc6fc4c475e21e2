import type { EventQuery } from './events.ts';
import type { VerifiedRequisition } from './verify.ts';

/**
 * Returns the query for a requisition. The query samples people for direct results and sketches, but reads everybody for a
 * share, whose registers are sampled later.
 */
export function queryOf({ selection, vidSampling, shareShuffle }: VerifiedRequisition): EventQuery {
  return { eventGroups: selection.events ?? [], vidSampling: shareShuffle ? EVERYBODY : vidSampling };
}
const EVERYBODY = { start: 0, width: 1 };
