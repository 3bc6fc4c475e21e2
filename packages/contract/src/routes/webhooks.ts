import {
  RedeliverRequest,
  Webhook,
  WebhookDelivery,
  WebhookInput,
  WebhookUpdate,
} from '../codecs/webhook.ts';
import * as s from '../json/schema.ts';
import * as row from './route.ts';

const errors = ['WEBHOOK_NOT_FOUND'] as const;
const create = {
  ...row.CREATE,
  operation: 'createWebhook',
  body: row.created('webhook', WebhookInput, Webhook),
  response: Webhook,
  summary: 'Have changes sent to an endpoint; the response shows the secret, once',
} as const;
const list = {
  ...row.LIST,
  operation: 'listWebhooks',
  response: s.object({ webhooks: s.array(Webhook), nextPageToken: row.nextPageToken }),
  summary: 'List the webhooks of a party',
} as const;
const get = {
  ...row.READ,
  operation: 'getWebhook',
  response: Webhook,
  errors,
  summary: 'Read a webhook',
} as const;
const update = {
  ...row.UPDATE,
  operation: 'updateWebhook',
  body: row.updated('webhook', WebhookUpdate, Webhook),
  response: Webhook,
  errors,
  summary: 'Update, pause or resume a webhook: the fields present are replaced',
} as const;
const remove = {
  ...row.DELETE,
  operation: 'deleteWebhook',
  response: Webhook,
  errors,
  summary: 'Delete a webhook; returns what it was',
} as const;
const rotateSecret = {
  ...row.ACT,
  operation: 'rotateWebhookSecret',
  verb: 'rotateSecret',
  body: row.NO_MESSAGE,
  response: Webhook,
  errors,
  summary: 'Make a new secret, which the response shows once; the old one signs as well for 24 hours',
} as const;
const test = {
  ...row.ACT,
  operation: 'testWebhook',
  verb: 'test',
  body: row.NO_MESSAGE,
  response: WebhookDelivery,
  errors: [...errors, 'TOO_MANY_DELIVERIES'],
  summary: 'Send a test to a webhook, also to one that is paused; its deliveries show how that went',
} as const;
const redeliver = {
  ...row.ACT,
  operation: 'redeliverWebhook',
  verb: 'redeliver',
  body: row.message(RedeliverRequest),
  response: Webhook,
  errors: [...errors, 'TOO_MANY_DELIVERIES'],
  summary:
    'Deliver the changes since a time again, in their order, as far as the log is kept; 1,000 an hour at most',
} as const;
const deliveries = {
  ...row.LIST,
  operation: 'listWebhookDeliveries',
  response: s.object({ deliveries: s.array(WebhookDelivery), nextPageToken: row.nextPageToken }),
  errors,
  summary: 'List what was sent to a webhook, the latest first, and what is still to be sent',
} as const;

const webhook = 'webhooks/{webhook}';

export const WEBHOOK_ROUTES = [
  ...row.ofEachParty('webhooks', ({ notFound }) => ({ ...create, errors: [notFound, 'TOO_MANY_WEBHOOKS'] })),
  ...row.ofEachParty('webhooks', ({ notFound }) => ({ ...list, errors: [notFound] })),
  ...row.ofEachParty(webhook, () => get),
  ...row.ofEachParty(webhook, () => update),
  ...row.ofEachParty(webhook, () => remove),
  ...row.ofEachParty(webhook, () => rotateSecret),
  ...row.ofEachParty(webhook, () => test),
  ...row.ofEachParty(webhook, () => redeliver),
  ...row.ofEachParty(`${webhook}/deliveries`, () => deliveries),
] as const satisfies readonly row.Route[];
