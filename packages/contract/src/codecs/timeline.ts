import * as s from '../json/schema.ts';
import { Finding } from './common.ts';

const Transition = s.object({
  resource: s.nameOf('measurement', 'measurementRequisition', 'requisition', 'computation'),
  from: s.optional(s.text(100)),
  to: s.text(100),
  time: s.timestamp(),
  actor: s.text(200),
  cause: s.text(100),
  requestId: s.text(100),
  findings: s.optional(s.array(Finding)),
});

export const Progress = s.object({
  duchy: s.nameOf('duchy'),
  time: s.timestamp(),
  stage: s.text(100),
  attempt: s.integer(1, 1_000_000),
  message: s.text(1000),
  progress: s.optional(s.number(), 'The part of the stage that is done, from 0 to 1.'),
});
export type Progress = s.Static<typeof Progress>;

/** A page of transitions, oldest first. */
export const Timeline = s.object({
  transitions: s.array(Transition),
  progress: s.optional(
    s.array(Progress),
    'On the first page, where duchies compute: the latest reports of each duchy, at most pageSize of each. The consumer sees them.',
  ),
  nextPageToken: s.optional(s.text(2000)),
});
export type Timeline = s.Static<typeof Timeline>;

export const WhoAmI = s.object({ principal: s.text(200), issuer: s.text(1000), subject: s.text(1000) });
export type WhoAmI = s.Static<typeof WhoAmI>;
