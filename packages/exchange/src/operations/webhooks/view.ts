/** Webhooks and deliveries as resources of the API. */
import { ExchangeError, type Webhook, type WebhookDelivery } from '@measurement-exchange/contract';
import type { DeliveryRecord } from '../../database/webhookDeliveries.ts';
import { messageId, type WebhookRecord, webhookName } from '../../domain/webhook.ts';
import { partyOf } from '../certificates/view.ts';

/** `dataProviders/x/webhooks/y/deliveries` or `dataProviders/x/webhooks/y`. */
export function addressed(path: string): { party: string; id: string } {
  return { party: partyOf(path), id: path.split('/')[3]! };
}

/** Without its secret, which only the response that makes it shows. */
export function viewWebhook({ party, id, kinds, ...webhook }: WebhookRecord): Webhook {
  return { name: webhookName(party, id), ...webhook, filter: { kinds } };
}

export function viewDelivery({ event, webhook, ...delivery }: DeliveryRecord): WebhookDelivery {
  const { firstFailureTime: _, ...shown } = delivery;
  return {
    webhookId: messageId(webhook, event),
    resource: event.name,
    kind: event.kind,
    version: event.version,
    ...shown,
  };
}

export function requireWebhook(
  webhook: WebhookRecord | undefined,
  { party, id }: { party: string; id: string },
): WebhookRecord {
  if (webhook !== undefined) return webhook;
  const name = webhookName(party, id);
  throw new ExchangeError('WEBHOOK_NOT_FOUND', `${name} does not exist.`, { metadata: { webhook: name } });
}
