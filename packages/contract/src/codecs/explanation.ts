import { array, enumOf, nameOf, object, optional, type Static, text, timestamp } from '../json/schema.ts';

/** What somebody is waited for, or what keeps them from it. */
const WAIT_CODES = [
  'NOT_SEEN',
  'OFFLINE',
  'SILENT',
  'DEFERRED',
  'SUSPENDED',
  'CERTIFICATE_EXPIRED',
  'KEY_CHANGED',
  'PARAMETERS_MISSING',
  'UPLOAD_MISSING',
  'CONFIRMATION_MISSING',
  'STAGE_RUNNING',
  'STAGE_FAILING',
  'REVOCATION_RUNNING',
] as const;
export type WaitCode = (typeof WAIT_CODES)[number];

const RISK_CODES = ['CERTIFICATE_EXPIRES', 'DEADLINE_NEAR', 'DEFERRED_PAST_DEADLINE'] as const;

const ENDING_CODES = [
  'SUCCEEDED',
  'FULFILLED',
  'REFUSED',
  'WITHDRAWN',
  'CANCELLED',
  'PENDING_TOO_LONG',
  'CERTIFICATE_REVOKED',
  'DUCHY_GAVE_UP',
  'DEADLINE_MISSED',
  'REMOVED',
] as const;

const MAX_WORDS = 5000;

export const Wait = object({
  party: nameOf('measurementConsumer', 'dataProvider', 'duchy'),
  resource: optional(text(300), 'What the party has to act on, by the name that the caller knows it under.'),
  code: enumOf(WAIT_CODES),
  since: timestamp(),
  lastSeen: optional(
    timestamp(),
    'The half minute in which the party last called the exchange; absent where it never did.',
  ),
  detail: text(MAX_WORDS),
  remedy: text(MAX_WORDS),
});
export type Wait = Static<typeof Wait>;

export const Risk = object({
  code: enumOf(RISK_CODES),
  detail: text(MAX_WORDS),
  at: timestamp(),
});
export type Risk = Static<typeof Risk>;

export const Ending = object({
  code: enumOf(ENDING_CODES),
  detail: text(MAX_WORDS),
  remedy: text(MAX_WORDS),
});
export type Ending = Static<typeof Ending>;

/** What a measurement, a requisition or a computation waits for, or why it ended. */
export const Explanation = object({
  state: text(100),
  since: timestamp(),
  summary: text(MAX_WORDS),
  waitingFor: array(Wait, { description: 'The most severe first; empty once it has ended.' }),
  risks: array(Risk),
  ending: optional(Ending, 'Why it ended, and what to do next.'),
  nextDeadline: optional(timestamp(), 'When it ends unless what it waits for has come.'),
});
export type Explanation = Static<typeof Explanation>;
