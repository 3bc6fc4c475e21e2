import { getWebhook as get } from '../../database/webhooks.ts';
import type { Handler } from '../context.ts';
import { addressed, requireWebhook, viewWebhook } from './view.ts';

export const getWebhook: Handler<'getWebhook'> = async (exchange, _call, { path }) => {
  const at = addressed(path);
  return viewWebhook(requireWebhook(await get(exchange.db, at.party, at.id), at));
};
