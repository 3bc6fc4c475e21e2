import * as s from '../json/schema.ts';
import { certificateName } from './common.ts';
import { MAX_WORDS } from './explanation.ts';

/** Counting stops at this number, so that the cost of a summary does not grow with the number of resources. */
export const MAX_COUNT = 1000;

const count = {
  count: s.integer(0, MAX_COUNT),
  more: s.optional(s.boolean(), `Set where there are more than ${MAX_COUNT}: counting stops there.`),
};
export const Count = s.object(count);
export type Count = s.Static<typeof Count>;

export const StateCount = s.object({ state: s.text(100), ...count });
export type StateCount = s.Static<typeof StateCount>;

export const CountsByAge = s.object(
  { underHour: Count, underDay: Count, older: Count },
  'By the time since the creation; computations, since their last change.',
);

export const WebhookCounts = s.object(
  { active: s.integer(0, MAX_COUNT), paused: s.integer(0, MAX_COUNT), failing: s.integer(0, MAX_COUNT) },
  'Those that fail are active, too.',
);
export type WebhookCounts = s.Static<typeof WebhookCounts>;

/** Counts of the measurements of a consumer, the requisitions of a provider, or the computations of a duchy. */
export const WorkSummary = s.object({
  states: s.array(StateCount, { description: 'How many there are in each state.' }),
  openByAge: CountsByAge,
  recentlyEnded: s.array(StateCount, {
    description: 'How many ended in each final state since `recentSince`.',
  }),
});
export type WorkSummary = s.Static<typeof WorkSummary>;

/**
 * Reasons why a resource can need attention. Some of them are also codes of an explanation. The others concern
 * certificates and webhooks.
 */
export const ATTENTION_CODES = [
  'REFUSED',
  'CERTIFICATE_REVOKED',
  'DUCHY_GAVE_UP',
  'DEADLINE_MISSED',
  'CERTIFICATE_EXPIRED',
  'SUSPENDED',
  'NOT_SEEN',
  'OFFLINE',
  'SILENT',
  'DEFERRED',
  'KEY_CHANGED',
  'PARAMETERS_MISSING',
  'UPLOAD_MISSING',
  'CONFIRMATION_MISSING',
  'STAGE_FAILING',
  'DEADLINE_NEAR',
  'CERTIFICATE_EXPIRES',
  'CERTIFICATE_MISSING',
  'WEBHOOK_PAUSED',
  'WEBHOOK_FAILING',
] as const;
export type AttentionCode = (typeof ATTENTION_CODES)[number];

export const Attention = s.object({
  code: s.enumOf(ATTENTION_CODES),
  /**
   * The resource that needs attention. A data provider gets the name of its requisition, and a duchy gets the name of
   * its computation, instead of the name of the measurement.
   */
  name: s.text(300, 1),
  party: s.optional(s.nameOf('measurementConsumer', 'dataProvider', 'duchy'), 'Whom it waits for.'),
  /** When the problem began, or when the failure happened. For CERTIFICATE_MISSING, the time of the request. */
  time: s.timestamp(),
  until: s.optional(
    s.timestamp(),
    'DEFERRED: when the provider will have the data. Certificates: when the certificate expires.',
  ),
  deadline: s.optional(s.timestamp(), 'When it ends unless what it waits for has come.'),
  detail: s.text(MAX_WORDS),
  remedy: s.text(MAX_WORDS),
});
export type Attention = s.Static<typeof Attention>;

export const PartySummary = s.object({
  time: s.timestamp(),
  recentSince: s.timestamp(),
  measurements: s.optional(WorkSummary, 'Only for a measurement consumer.'),
  requisitions: s.optional(WorkSummary, 'Only for a data provider.'),
  computations: s.optional(WorkSummary, 'Only for a duchy.'),
  eventGroups: s.optional(Count, 'Active ones: those of a data provider, or those described to a consumer.'),
  certificate: s.optional(
    s.object({ name: certificateName, notAfter: s.timestamp() }),
    'The preferred certificate of the party; absent where all are revoked or on hold.',
  ),
  webhooks: WebhookCounts,
  attention: s.array(Attention, {
    description:
      'What the party should look at: what failed or was refused since `recentSince`, latest first; of the 50 oldest that are ' +
      'open, those that wait for more than their turn, oldest first; then certificate and webhooks. At most 10 of each.',
  }),
  moreAttention: s.optional(s.boolean(), 'Set where `attention` was cut, or more than 50 are open.'),
});
export type PartySummary = s.Static<typeof PartySummary>;
