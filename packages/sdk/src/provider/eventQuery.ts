import type { EventQuery } from './events.ts';
import type { VerifiedRequisition } from './verify.ts';

/**
 * Returns the event query for a requisition. For direct results and sketches, the query samples people. For a share, it
 * selects all people, because the share's registers are sampled later.
 */
export function queryOf({ selection, vidSampling, shareShuffle }: VerifiedRequisition): EventQuery {
  return { eventGroups: selection.events ?? [], vidSampling: shareShuffle ? EVERYBODY : vidSampling };
}
const EVERYBODY = { start: 0, width: 1 };
