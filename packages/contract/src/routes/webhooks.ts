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
const webhook = 'webhooks/{webhook}';
const webhooks = s.object({ webhooks: s.array(Webhook), nextPageToken: row.nextPageToken });
const deliveries = s.object({ deliveries: s.array(WebhookDelivery), nextPageToken: row.nextPageToken });

export const WEBHOOK_ROUTES = [
  ...row.ofEachParty('webhooks', ({ notFound }) => ({
    ...row.CREATE,
    operation: 'createWebhook',
    body: row.created('webhook', WebhookInput, Webhook),
    response: Webhook,
    errors: [notFound, 'TOO_MANY_WEBHOOKS'],
    summary: 'Have changes sent to an endpoint; the response shows the secret, once',
  })),
  ...row.ofEachParty('webhooks', ({ notFound }) => ({
    ...row.LIST,
    operation: 'listWebhooks',
    response: webhooks,
    errors: [notFound],
    summary: 'List the webhooks of a party',
  })),
  ...row.ofEachParty(webhook, () => ({
    ...row.READ,
    operation: 'getWebhook',
    response: Webhook,
    errors,
    summary: 'Read a webhook',
  })),
  ...row.ofEachParty(webhook, () => ({
    ...row.UPDATE,
    operation: 'updateWebhook',
    body: row.updated('webhook', WebhookUpdate, Webhook),
    response: Webhook,
    errors,
    summary: 'Update, pause or resume a webhook: the fields present are replaced',
  })),
  ...row.ofEachParty(webhook, () => ({
    ...row.DELETE,
    operation: 'deleteWebhook',
    response: Webhook,
    errors,
    summary: 'Delete a webhook; returns what it was',
  })),
  ...row.ofEachParty(webhook, () => ({
    ...row.ACT,
    operation: 'rotateWebhookSecret',
    verb: 'rotateSecret',
    body: row.NO_MESSAGE,
    response: Webhook,
    errors,
    summary: 'Make a new secret, which the response shows once; the old one signs as well for 24 hours',
  })),
  ...row.ofEachParty(webhook, () => ({
    ...row.ACT,
    operation: 'testWebhook',
    verb: 'test',
    body: row.NO_MESSAGE,
    response: WebhookDelivery,
    errors: [...errors, 'TOO_MANY_DELIVERIES'],
    summary: 'Send a test to a webhook, also to one that is paused; its deliveries show how that went',
  })),
  ...row.ofEachParty(webhook, () => ({
    ...row.ACT,
    operation: 'redeliverWebhook',
    verb: 'redeliver',
    body: row.message(RedeliverRequest),
    response: Webhook,
    errors: [...errors, 'TOO_MANY_DELIVERIES'],
    summary:
      'Deliver the changes since a time again, in their order, as far as the log is kept, or one delivery; 1,000 an hour at most',
  })),
  ...row.ofEachParty(`${webhook}/deliveries`, () => ({
    ...row.LIST,
    operation: 'listWebhookDeliveries',
    response: deliveries,
    errors,
    summary: 'List what was sent to a webhook, the latest first, and what is still to be sent',
  })),
] as const satisfies readonly row.Route[];
