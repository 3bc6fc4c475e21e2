import * as s from '../json/schema.ts';
import { CHANGE_KINDS } from './change.ts';
import { Finding, written } from './common.ts';

const WEBHOOK_STATES = ['ACTIVE', 'PAUSED'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

const filter = s.object({
  kinds: s.optional(
    s.array(s.enumOf(CHANGE_KINDS), { maxItems: CHANGE_KINDS.length }),
    'Only changes of these kinds; absent or empty: all.',
  ),
});
export const MAX_WEBHOOK_URL = 2000;
const url = s.text(MAX_WEBHOOK_URL, 1);
const described = { filter: s.optional(filter), description: s.optional(s.text(1000)) };

export const WebhookInput = s.object({ url, ...described });
export type WebhookInput = s.Static<typeof WebhookInput>;

/** An update replaces only the fields that it contains. */
export const WebhookUpdate = s.object({
  url: s.optional(url),
  ...described,
  state: s.optional(
    s.enumOf(WEBHOOK_STATES),
    'While a webhook is PAUSED, changes stay in the log; once it is ACTIVE again, they are sent at once.',
  ),
});
export type WebhookUpdate = s.Static<typeof WebhookUpdate>;

export const Webhook = s.object({
  name: s.optional(s.nameOf('measurementConsumerWebhook', 'dataProviderWebhook', 'duchyWebhook')),
  url,
  ...described,
  state: s.enumOf(WEBHOOK_STATES),
  pauseReason: s.optional(s.text(1000), 'Why the webhook is paused.'),
  skippedTime: s.optional(
    s.timestamp(),
    'When changes that were not delivered yet were removed from the log. List your resources to see their current state.',
  ),
  secret: s.optional(
    s.text(200),
    'The secret that verifies signatures. It is shown once, in the response that created it.',
  ),
  ...written,
});
export type Webhook = s.Static<typeof Webhook>;

export const RedeliverRequest = s.object({
  from: s.optional(s.timestamp(), 'All changes since this time are sent again.'),
  webhookId: s.optional(s.text(100, 1), 'Instead of `from`: only this delivery is sent again.'),
});
export type RedeliverRequest = s.Static<typeof RedeliverRequest>;

const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const WebhookDelivery = s.object({
  /** The ID that the receiver gets in the `webhook-id` header. */
  webhookId: s.text(100),
  resource: s.text(500),
  kind: s.enumOf([...CHANGE_KINDS, 'TEST']),
  version: s.integer(1, 2 ** 31 - 1),
  type: s.optional(s.text(100), 'The type of the event, such as `measurement.changed`.'),
  body: s.optional(s.text(5000), 'The body that is sent, as it is signed.'),
  state: s.enumOf(DELIVERY_STATES),
  attempts: s.integer(0, 2 ** 31 - 1),
  lastAttemptTime: s.optional(s.timestamp()),
  nextAttemptTime: s.optional(s.timestamp(), 'The earliest time of the next attempt.'),
  status: s.optional(s.integer(100, 999), 'The HTTP status of the last attempt.'),
  error: s.optional(s.text(1000), 'Why the last attempt got no response.'),
  milliseconds: s.optional(s.integer(0, 2 ** 31 - 1), 'How long the last attempt took.'),
  createTime: s.optional(s.timestamp()),
  findings: s.optional(s.array(Finding)),
});
export type WebhookDelivery = s.Static<typeof WebhookDelivery>;
