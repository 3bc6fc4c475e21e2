import * as s from '../json/schema.ts';
import { certificateName } from './common.ts';
import { PARTY_STATES } from './party.ts';
import { Count, CountsByAge, WebhookCounts } from './summary.ts';

/** The health of a party, as the operator sees it: times and counts, and nothing that the party measures. */
export const PartyHealth = s.object({
  /** The name of the party. */
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
  /** Measurements of a consumer, requisitions of a data provider or computations of a duchy that have not ended. */
  open: Count,
  openByAge: CountsByAge,
  oldestOpenTime: s.optional(
    s.timestamp(),
    'When the oldest of them was created; of computations, last changed.',
  ),
  webhooks: WebhookCounts,
});
export type PartyHealth = s.Static<typeof PartyHealth>;
