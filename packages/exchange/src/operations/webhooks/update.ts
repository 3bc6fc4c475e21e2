import { saveWebhook } from '../../database/webhooks.ts';
import { updateWebhook as update } from '../../domain/webhook.ts';
import type { Handler } from '../context.ts';
import { changeWebhook } from './change.ts';
import { viewWebhook } from './view.ts';

export const updateWebhook: Handler<'updateWebhook'> = (exchange, call, request) =>
  changeWebhook('updateWebhook', exchange, call, request, (tx, before, now) => {
    const after = update(before, request.body, now, exchange.allowsHttp);
    return { save: () => saveWebhook(tx, after, now), view: () => viewWebhook(after) };
  });
