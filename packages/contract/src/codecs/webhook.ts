import {
  array,
  enumOf,
  integer,
  nameOf,
  object,
  optional,
  type Static,
  text,
  timestamp,
} from '../json/schema.ts';
import { CHANGE_KINDS } from './change.ts';
import { Finding } from './common.ts';

const WEBHOOK_STATES = ['ACTIVE', 'PAUSED'] as const;
export type WebhookState = (typeof WEBHOOK_STATES)[number];

const filter = object({
  kinds: optional(
    array(enumOf(CHANGE_KINDS), { maxItems: CHANGE_KINDS.length }),
    'Only changes of these kinds; absent or empty: all.',
  ),
});
const url = text(2000, 1);
const described = { filter: optional(filter), description: optional(text(1000)) };

export const WebhookInput = object({ url, ...described });
export type WebhookInput = Static<typeof WebhookInput>;

/** The fields present are replaced. */
export const WebhookUpdate = object({
  url: optional(url),
  ...described,
  state: optional(
    enumOf(WEBHOOK_STATES),
    'PAUSED keeps what changes in the log; ACTIVE goes on from there, at once.',
  ),
});
export type WebhookUpdate = Static<typeof WebhookUpdate>;

export const Webhook = object({
  name: optional(nameOf('measurementConsumerWebhook', 'dataProviderWebhook', 'duchyWebhook')),
  url,
  ...described,
  state: enumOf(WEBHOOK_STATES),
  pauseReason: optional(text(1000), 'Why it is paused.'),
  skippedTime: optional(
    timestamp(),
    'When changes that it had not got yet were removed from the log. List your resources, to know what they are now.',
  ),
  secret: optional(
    text(200),
    'What signatures are verified with. Only in the response that made it: it is shown once.',
  ),
  createTime: optional(timestamp()),
  updateTime: optional(timestamp()),
  findings: optional(array(Finding)),
});
export type Webhook = Static<typeof Webhook>;

export const RedeliverRequest = object({
  from: timestamp(),
});
export type RedeliverRequest = Static<typeof RedeliverRequest>;

const DELIVERY_STATES = ['PENDING', 'DELIVERED', 'FAILED'] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export const WebhookDelivery = object({
  /** What the receiver gets as `webhook-id`. */
  webhookId: text(100),
  resource: text(500),
  kind: enumOf([...CHANGE_KINDS, 'TEST']),
  version: integer(1, 2 ** 31 - 1),
  state: enumOf(DELIVERY_STATES),
  attempts: integer(0, 2 ** 31 - 1),
  lastAttemptTime: optional(timestamp()),
  nextAttemptTime: optional(timestamp(), 'When it is tried next, at the earliest.'),
  status: optional(integer(100, 999), 'The HTTP status of the last attempt.'),
  error: optional(text(1000), 'Why the last attempt got no response.'),
  milliseconds: optional(integer(0, 2 ** 31 - 1), 'How long the last attempt took.'),
  createTime: optional(timestamp()),
  findings: optional(array(Finding)),
});
export type WebhookDelivery = Static<typeof WebhookDelivery>;
