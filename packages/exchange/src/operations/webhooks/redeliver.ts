import type { RequestOf, Webhook } from '@measurement-exchange/contract';
import { positionBefore } from '../../database/changes.ts';
import { rewindWebhook } from '../../database/webhooks.ts';
import type { Call, Exchange } from '../context.ts';
import { changeWebhook } from './change.ts';
import { addressed, viewWebhook } from './view.ts';

export async function redeliverWebhook(
  exchange: Exchange,
  call: Call,
  request: RequestOf<'redeliverWebhook'>,
): Promise<Webhook> {
  const { party } = addressed(request.path);
  // Before the transaction: as long as one with an ID runs, nobody reads what is committed after it began.
  const position = await positionBefore(exchange.db, party, request.body.from);
  return changeWebhook('redeliverWebhook', exchange, call, request, (tx, webhook, now) => ({
    save: () => rewindWebhook(tx, webhook.id, position, now),
    view: () => viewWebhook(webhook),
  }));
}
