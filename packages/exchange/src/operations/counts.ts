import { type Count, MAX_COUNT, type WebhookCounts } from '@measurement-exchange/contract';
import type { WebhookHealth } from '../domain/webhook.ts';

/**
 * Converts the result of a count that stops at MAX_COUNT + 1. A result of MAX_COUNT + 1 means that there are more than
 * MAX_COUNT rows.
 */
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
