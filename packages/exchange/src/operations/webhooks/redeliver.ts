import { positionBefore } from '../../database/changes.ts';
import { addRedeliveries, countBehind, rewindWebhook } from '../../database/webhooks.ts';
import { hoursBefore } from '../../domain/time.ts';
import { MAX_REDELIVERED, requireRedeliverable } from '../../domain/webhook.ts';
import type { Handler } from '../context.ts';
import { changeWebhook } from './change.ts';
import { addressed, viewWebhook } from './view.ts';

export const redeliverWebhook: Handler<'redeliverWebhook'> = async (exchange, call, request) => {
  const { party } = addressed(request.path);
  // Search before the transaction starts, because a running write transaction holds up every reader of the change log.
  const position = await positionBefore(exchange.db, party, request.body.from);
  return changeWebhook('redeliverWebhook', exchange, call, request, async (tx, webhook, now) => {
    const count = await countBehind(tx, webhook.id, position, MAX_REDELIVERED + 1);
    requireRedeliverable(await addRedeliveries(tx, party, count, now, hoursBefore(now, 1)), count, now);
    return {
      save: () => rewindWebhook(tx, webhook.id, position, now),
      view: () => viewWebhook(webhook),
    };
  });
};
