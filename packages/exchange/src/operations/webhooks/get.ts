import type { RequestOf, Webhook } from '@measurement-exchange/contract';
import { getWebhook as get } from '../../database/webhooks.ts';
import type { Call, Exchange } from '../context.ts';
import { addressed, requireWebhook, viewWebhook } from './view.ts';

export async function getWebhook(
  exchange: Exchange,
  _call: Call,
  { path }: RequestOf<'getWebhook'>,
): Promise<Webhook> {
  const at = addressed(path);
  return viewWebhook(requireWebhook(await get(exchange.db, at.party, at.id), at));
}
