import * as s from '../json/schema.ts';

/** The reasons for a wait, from the most severe to the least severe. */
export const WAIT_CODES = [
  'REVOCATION_RUNNING',
  'CERTIFICATE_EXPIRED',
  'SUSPENDED',
  'KEY_CHANGED',
  'STAGE_FAILING',
  'OFFLINE',
  'NOT_SEEN',
  'SILENT',
  'DEFERRED',
  'PARAMETERS_MISSING',
  'UPLOAD_MISSING',
  'CONFIRMATION_MISSING',
  'STAGE_RUNNING',
  'ASKED',
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

export const MAX_WORDS = 5000;

export const Wait = s.object({
  party: s.nameOf('measurementConsumer', 'dataProvider', 'duchy'),
  resource: s.optional(
    s.text(300),
    'What the party has to act on, by the name that the caller knows it under.',
  ),
  code: s.enumOf(WAIT_CODES),
  since: s.timestamp(),
  lastSeen: s.optional(
    s.timestamp(),
    'The half minute in which the party last called the exchange; absent where it never did.',
  ),
  detail: s.text(MAX_WORDS),
  remedy: s.text(MAX_WORDS),
});
export type Wait = s.Static<typeof Wait>;

export const Risk = s.object({
  code: s.enumOf(RISK_CODES),
  detail: s.text(MAX_WORDS),
  at: s.timestamp(),
});
export type Risk = s.Static<typeof Risk>;

export const Ending = s.object({
  code: s.enumOf(ENDING_CODES),
  detail: s.text(MAX_WORDS),
  remedy: s.text(MAX_WORDS),
});
export type Ending = s.Static<typeof Ending>;

/** Explains what a measurement, a requisition or a computation is waiting for, or why it ended. */
export const Explanation = s.object({
  state: s.text(100),
  since: s.timestamp(),
  summary: s.text(MAX_WORDS),
  waitingFor: s.array(Wait, { description: 'The most severe first; empty once it has ended.' }),
  risks: s.array(Risk),
  ending: s.optional(Ending, 'Why it ended, and what to do next.'),
  nextDeadline: s.optional(s.timestamp(), 'When it ends unless what it waits for has come.'),
});
export type Explanation = s.Static<typeof Explanation>;
