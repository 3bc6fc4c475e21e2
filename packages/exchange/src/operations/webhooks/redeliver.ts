import type { Timestamp } from '@measurement-exchange/contract';
import { positionBefore } from '../../database/changes.ts';
import type { Transaction } from '../../database/db.ts';
import { insertAgain, keptDeliveries } from '../../database/webhookDeliveries.ts';
import { addRedeliveries, countBehind, rewindWebhook } from '../../database/webhooks.ts';
import { hoursBefore } from '../../domain/time.ts';
import {
  MAX_REDELIVERED,
  redelivered,
  requireDelivery,
  requireRedeliverable,
  type WebhookRecord,
} from '../../domain/webhook.ts';
import type { Exchange, Handler } from '../context.ts';
import { changeWebhook } from './change.ts';
import { addressed, viewWebhook } from './view.ts';

export const redeliverWebhook: Handler<'redeliverWebhook'> = async (exchange, call, request) => {
  const { party, id } = addressed(request.path);
  const wanted = redelivered(request.body);
  const resend =
    'from' in wanted
      ? await allSince(exchange, party, wanted.from)
      : await oneDelivery(exchange, id, wanted.webhookId);
  return changeWebhook('redeliverWebhook', exchange, call, request, async (tx, webhook, now) => {
    const count = await resend.count(tx, webhook);
    const total = await addRedeliveries(tx, party, count, now, hoursBefore(now, 1));
    requireRedeliverable(total, count, { from: request.body.from, now });
    return { save: () => resend.save(tx, webhook, now), view: () => viewWebhook(webhook) };
  });
};

interface Resend {
  count(tx: Transaction, webhook: WebhookRecord): Promise<number> | number;
  save(tx: Transaction, webhook: WebhookRecord, now: Timestamp): void;
}

async function allSince(exchange: Exchange, party: string, from: Timestamp): Promise<Resend> {
  // Search before the transaction starts, to keep the transaction short: readers of the change log wait for every
  // running write transaction.
  const position = await positionBefore(exchange.db, party, from);
  return {
    count: (tx, webhook) => countBehind(tx, webhook.id, position, MAX_REDELIVERED + 1),
    save: (tx, webhook, now) => rewindWebhook(tx, webhook.id, position, now),
  };
}

async function oneDelivery(exchange: Exchange, id: string, webhookId: string): Promise<Resend> {
  const kept = await keptDeliveries(exchange.db, id);
  let number: bigint;
  return {
    count() {
      // Look for the delivery only here, when the webhook is already locked. Locking fails if the webhook belongs to
      // another party, so the caller learns nothing about that party's deliveries.
      ({ number } = requireDelivery(kept, webhookId));
      return 1;
    },
    save: (tx, webhook, now) => insertAgain(tx, webhook.id, number, now),
  };
}
