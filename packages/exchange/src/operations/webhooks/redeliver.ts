import type { RequestOf, Webhook } from '@measurement-exchange/contract';
import { rewindWebhook } from '../../database/webhooks.ts';
import type { Call, Exchange } from '../context.ts';
import { changeWebhook } from './change.ts';
import { viewWebhook } from './view.ts';

export function redeliverWebhook(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'redeliverWebhook'>,
): Promise<Webhook> {
  return changeWebhook('redeliverWebhook', exchange, call, request, (tx, webhook, now) => ({
    save: () => rewindWebhook(tx, webhook, request.body.from, now),
    view: () => viewWebhook(webhook),
  }));
}
