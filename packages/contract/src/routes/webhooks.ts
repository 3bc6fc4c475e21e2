import {
  RedeliverRequest,
  Webhook,
  WebhookDelivery,
  WebhookInput,
  WebhookUpdate,
} from '../codecs/webhook.ts';
import * as s from '../json/schema.ts';
import { PATTERNS } from '../values/names.ts';
import { nextPageToken, noQuery, paging, type Route } from './route.ts';

const NOT_FOUND = ['WEBHOOK_NOT_FOUND'] as const;
const body = { form: 'resource', resource: Webhook, member: 'webhook' } as const;
const create = {
  operation: 'createWebhook',
  method: 'POST',
  mutates: true,
  query: noQuery,
  body: { ...body, schema: WebhookInput, create: true },
  response: Webhook,
  summary: 'Have changes sent to an endpoint; the response shows the secret, once',
} as const;
const list = {
  operation: 'listWebhooks',
  method: 'GET',
  query: s.object(paging),
  response: s.object({ webhooks: s.array(Webhook), nextPageToken }),
  summary: 'List the webhooks of a party',
} as const;
const get = {
  operation: 'getWebhook',
  method: 'GET',
  query: noQuery,
  response: Webhook,
  errors: NOT_FOUND,
  summary: 'Read a webhook',
} as const;
const update = {
  operation: 'updateWebhook',
  method: 'PATCH',
  mutates: true,
  query: noQuery,
  body: { ...body, schema: WebhookUpdate, create: false },
  response: Webhook,
  errors: NOT_FOUND,
  summary: 'Update, pause or resume a webhook: the fields present are replaced',
} as const;
const remove = {
  operation: 'deleteWebhook',
  method: 'DELETE',
  mutates: true,
  query: noQuery,
  response: Webhook,
  errors: NOT_FOUND,
  summary: 'Delete a webhook; returns what it was',
} as const;
const act = { method: 'POST', mutates: true, query: noQuery, errors: NOT_FOUND } as const;
const rotateSecret = {
  ...act,
  operation: 'rotateWebhookSecret',
  verb: 'rotateSecret',
  body: { form: 'message', schema: s.object({}), also: 'name' },
  response: Webhook,
  summary: 'Make a new secret, which the response shows once; the old one signs as well for 24 hours',
} as const;
const test = {
  ...act,
  operation: 'testWebhook',
  verb: 'test',
  body: { form: 'message', schema: s.object({}), also: 'name' },
  response: WebhookDelivery,
  errors: [...NOT_FOUND, 'TOO_MANY_DELIVERIES'],
  summary: 'Send a test to a webhook, also to one that is paused; its deliveries show how that went',
} as const;
const redeliver = {
  ...act,
  operation: 'redeliverWebhook',
  verb: 'redeliver',
  body: { form: 'message', schema: RedeliverRequest, also: 'name' },
  response: Webhook,
  errors: [...NOT_FOUND, 'TOO_MANY_DELIVERIES'],
  summary:
    'Deliver the changes since a time again, in their order, as far as the log is kept; 1,000 an hour at most',
} as const;
const deliveries = {
  operation: 'listWebhookDeliveries',
  method: 'GET',
  query: s.object(paging),
  response: s.object({ deliveries: s.array(WebhookDelivery), nextPageToken }),
  errors: NOT_FOUND,
  summary: 'List what was sent to a webhook, the latest first, and what is still to be sent',
} as const;

const ofConsumer = { measurementConsumer: 'own' } as const;
const ofProvider = { dataProvider: 'own' } as const;
const ofDuchy = { duchy: 'own' } as const;
const consumer = PATTERNS.measurementConsumerWebhook;
const provider = PATTERNS.dataProviderWebhook;
const duchy = PATTERNS.duchyWebhook;
const consumers = 'measurementConsumers/{measurementConsumer}/webhooks' as const;
const providers = 'dataProviders/{dataProvider}/webhooks' as const;
const duchies = 'duchies/{duchy}/webhooks' as const;
const CONSUMER = 'MEASUREMENT_CONSUMER_NOT_FOUND';
const PROVIDER = 'DATA_PROVIDER_NOT_FOUND';
const DUCHY = 'DUCHY_NOT_FOUND';
const LIMIT = 'TOO_MANY_WEBHOOKS';

export const WEBHOOK_ROUTES = [
  { ...create, path: consumers, access: ofConsumer, errors: [CONSUMER, LIMIT] },
  { ...create, path: providers, access: ofProvider, errors: [PROVIDER, LIMIT] },
  { ...create, path: duchies, access: ofDuchy, errors: [DUCHY, LIMIT] },
  { ...list, path: consumers, access: ofConsumer, errors: [CONSUMER] },
  { ...list, path: providers, access: ofProvider, errors: [PROVIDER] },
  { ...list, path: duchies, access: ofDuchy, errors: [DUCHY] },
  { ...get, path: consumer, access: ofConsumer },
  { ...get, path: provider, access: ofProvider },
  { ...get, path: duchy, access: ofDuchy },
  { ...update, path: consumer, access: ofConsumer },
  { ...update, path: provider, access: ofProvider },
  { ...update, path: duchy, access: ofDuchy },
  { ...remove, path: consumer, access: ofConsumer },
  { ...remove, path: provider, access: ofProvider },
  { ...remove, path: duchy, access: ofDuchy },
  { ...rotateSecret, path: consumer, access: ofConsumer },
  { ...rotateSecret, path: provider, access: ofProvider },
  { ...rotateSecret, path: duchy, access: ofDuchy },
  { ...test, path: consumer, access: ofConsumer },
  { ...test, path: provider, access: ofProvider },
  { ...test, path: duchy, access: ofDuchy },
  { ...redeliver, path: consumer, access: ofConsumer },
  { ...redeliver, path: provider, access: ofProvider },
  { ...redeliver, path: duchy, access: ofDuchy },
  { ...deliveries, path: `${consumer}/deliveries`, access: ofConsumer },
  { ...deliveries, path: `${provider}/deliveries`, access: ofProvider },
  { ...deliveries, path: `${duchy}/deliveries`, access: ofDuchy },
] as const satisfies readonly Route[];
