import type { EventQuery } from './events.ts';
import type { VerifiedRequisition } from './verify.ts';

/** Everybody is read for a share, because its registers are sampled later; direct results and sketches are sampled here. */
export function queryOf({ selection, vidSampling, shareShuffle }: VerifiedRequisition): EventQuery {
  return { eventGroups: selection.events ?? [], vidSampling: shareShuffle ? EVERYBODY : vidSampling };
}
const EVERYBODY = { start: 0, width: 1 };
