import type { RequestOf, Webhook } from '@measurement-exchange/contract';
import { deleteWebhook as remove } from '../../database/webhooks.ts';
import type { Call, Exchange } from '../context.ts';
import { changeWebhook } from './change.ts';
import { viewWebhook } from './view.ts';

export function deleteWebhook(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'deleteWebhook'>,
): Promise<Webhook> {
  return changeWebhook('deleteWebhook', exchange, call, request, (tx, before) => ({
    save: () => remove(tx, before.id),
    view: () => viewWebhook(before),
  }));
}
