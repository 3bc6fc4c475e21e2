import type { Webhook, WebhookDelivery } from '@measurement-exchange/contract';
import type { DeliveryRecord } from '../../database/webhookDeliveries.ts';
import { partyOf } from '../../domain/access.ts';
import { requireFound } from '../../domain/found.ts';
import { eventType, messageId, payloadOf, type WebhookRecord, webhookName } from '../../domain/webhook.ts';

/** Parses a path such as `dataProviders/x/webhooks/y` or `dataProviders/x/webhooks/y/deliveries`. */
export function addressed(path: string): { party: string; id: string } {
  return { party: partyOf(path), id: path.split('/')[3]! };
}

/** Converts a webhook to an API resource. The secret is left out. Only requests that create a secret return it. */
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
    type: eventType(event),
    body: payloadOf(event),
    ...shown,
  };
}

export function requireWebhook(
  webhook: WebhookRecord | undefined,
  { party, id }: { party: string; id: string },
): WebhookRecord {
  return requireFound(webhook, 'WEBHOOK_NOT_FOUND', webhookName(party, id));
}
