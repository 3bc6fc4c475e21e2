import { array, nameOf, object, optional, type Static, text, timestamp } from '../schema.ts';
import { Finding } from './common.ts';

/** One logged step of a measurement or of one of its requisitions. */
export const Transition = object({
  resource: nameOf('measurement', 'measurementRequisition', 'requisition'),
  from: optional(text(100)),
  to: text(100),
  time: timestamp(),
  actor: text(200),
  cause: text(100),
  requestId: text(100),
  /** What the checks found about the request behind this step. */
  findings: optional(array(Finding)),
});

/** What happened, in order. */
export const Timeline = object({ transitions: array(Transition) });
export type Timeline = Static<typeof Timeline>;

export const WhoAmI = object({ principal: text(200), issuer: text(1000), subject: text(1000) });
export type WhoAmI = Static<typeof WhoAmI>;
