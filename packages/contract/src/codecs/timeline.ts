import {
  array,
  integer,
  nameOf,
  number,
  object,
  optional,
  type Static,
  text,
  timestamp,
} from '../json/schema.ts';
import { Finding } from './common.ts';

/** One logged step of a measurement, of one of its requisitions, or of a duchy's part in its computation. */
const Transition = object({
  resource: nameOf('measurement', 'measurementRequisition', 'requisition', 'computation'),
  from: optional(text(100)),
  to: text(100),
  time: timestamp(),
  actor: text(200),
  cause: text(100),
  requestId: text(100),
  /** What the checks found about the request behind this step. */
  findings: optional(array(Finding)),
});

/** What a duchy reported while it computed. */
export const Progress = object({
  duchy: nameOf('duchy'),
  time: timestamp(),
  stage: text(100),
  attempt: integer(1, 1_000_000),
  message: text(1000),
  progress: optional(number(), 'From 0 to 1, of the stage.'),
});
export type Progress = Static<typeof Progress>;

/** What happened, in order, page by page. */
export const Timeline = object({
  transitions: array(Transition),
  progress: optional(
    array(Progress),
    'On the first page, where duchies compute: the latest reports of each duchy, at most pageSize of each. The consumer sees them.',
  ),
  nextPageToken: optional(text(2000)),
});
export type Timeline = Static<typeof Timeline>;

export const WhoAmI = object({ principal: text(200), issuer: text(1000), subject: text(1000) });
export type WhoAmI = Static<typeof WhoAmI>;
