import * as s from '../json/schema.ts';
import { certificateName } from './common.ts';
import { PARTY_STATES } from './party.ts';
import { Count, CountsByAge, WebhookCounts } from './summary.ts';

/** A party's health, for the operator. It contains times and counts, but no measured data. */
export const PartyHealth = s.object({
  name: s.nameOf('measurementConsumer', 'dataProvider', 'duchy'),
  displayName: s.text(255),
  state: s.enumOf(PARTY_STATES),
  lastSeen: s.optional(
    s.timestamp(),
    'The half minute in which the party last called the exchange; absent where it never did.',
  ),
  certificate: s.optional(
    s.object({
      name: certificateName,
      notAfter: s.timestamp(),
      daysLeft: s.integer(-(2 ** 31), 2 ** 31 - 1),
    }),
    'The preferred certificate, and the whole days until it expires, below 0 once it has; absent where there is none that is in force.',
  ),
  /**
   * The number of resources that have not ended: a consumer's measurements, a data provider's requisitions, or a
   * duchy's computations.
   */
  open: Count,
  openByAge: CountsByAge,
  oldestOpenTime: s.optional(
    s.timestamp(),
    'When the oldest of them was created; of computations, last changed.',
  ),
  webhooks: WebhookCounts,
});
export type PartyHealth = s.Static<typeof PartyHealth>;
