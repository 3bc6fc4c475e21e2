/** The query over the events that a verified requisition leads to. */
import type { EventQuery } from './events.ts';
import type { VerifiedRequisition } from './verify.ts';

/** The registers of a share are a sample of their own, of people in another order; a sketch is of those that are sampled here. */
export function queryOf({ selection, vidSampling, shareShuffle }: VerifiedRequisition): EventQuery {
  return { eventGroups: selection.events ?? [], vidSampling: shareShuffle ? EVERYBODY : vidSampling };
}
const EVERYBODY = { start: 0, width: 1 };
