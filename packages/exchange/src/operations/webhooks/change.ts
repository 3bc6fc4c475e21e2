import type { Operation, Timestamp } from '@measurement-exchange/contract';
import type { Transaction } from '../../database/db.ts';
import { lockWebhook } from '../../database/webhooks.ts';
import { type WebhookRecord, webhookName } from '../../domain/webhook.ts';
import type { Call, Exchange } from '../context.ts';
import { type Decision, mutate } from '../mutate.ts';
import { addressed, requireWebhook } from './view.ts';

type MaybePromise<T> = T | Promise<T>;

export async function changeWebhook<Resource extends object>(
  operation: Operation,
  exchange: Exchange,
  call: Call,
  request: { path: string; validateOnly: boolean },
  decide: (
    tx: Transaction,
    before: WebhookRecord,
    now: Timestamp,
  ) => MaybePromise<Omit<Decision<Resource>, 'versions'>>,
): Promise<Resource> {
  const at = addressed(request.path);
  const changed = await mutate(operation, exchange, call, request, async (tx) => {
    const before = requireWebhook(await lockWebhook(tx, at.party, at.id), at);
    const now = exchange.clock();
    const versions = [{ name: webhookName(at.party, at.id), version: 1, time: now }];
    return { ...(await decide(tx, before, now)), versions };
  });
  exchange.bus.emit('work');
  return changed;
}
