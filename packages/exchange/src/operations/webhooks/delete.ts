import { deleteWebhook as remove } from '../../database/webhooks.ts';
import type { Handler } from '../context.ts';
import { changeWebhook } from './change.ts';
import { viewWebhook } from './view.ts';

export const deleteWebhook: Handler<'deleteWebhook'> = (exchange, call, request) =>
  changeWebhook('deleteWebhook', exchange, call, request, (tx, before) => ({
    save: () => remove(tx, before.id),
    view: () => viewWebhook(before),
  }));
