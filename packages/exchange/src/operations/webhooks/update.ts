import type { RequestOf, Webhook } from '@measurement-exchange/contract';
import { saveWebhook } from '../../database/webhooks.ts';
import { updateWebhook as update } from '../../domain/webhook.ts';
import type { Call, Exchange } from '../context.ts';
import { changeWebhook } from './change.ts';
import { viewWebhook } from './view.ts';

export function updateWebhook(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'updateWebhook'>,
): Promise<Webhook> {
  return changeWebhook('updateWebhook', exchange, call, request, (tx, before, now) => {
    const after = update(before, request.body, now, exchange.allowsHttp);
    return { save: () => saveWebhook(tx, after, now), view: () => viewWebhook(after) };
  });
}
