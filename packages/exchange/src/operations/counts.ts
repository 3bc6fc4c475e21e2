import { type Count, MAX_COUNT, type WebhookCounts } from '@measurement-exchange/contract';
import type { WebhookHealth } from '../domain/webhook.ts';

/** Returns a count that stopped at one more than MAX_COUNT, as the API shows it. */
export function countOf(counted: number): Count {
  return counted > MAX_COUNT ? { count: MAX_COUNT, more: true } : { count: counted };
}

export function countWebhooks(webhooks: readonly WebhookHealth[]): WebhookCounts {
  const active = webhooks.filter(({ state }) => state === 'ACTIVE');
  return {
    active: active.length,
    paused: webhooks.length - active.length,
    failing: active.filter(({ failingSince }) => failingSince !== null).length,
  };
}
