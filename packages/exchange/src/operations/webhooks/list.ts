import { partyExists } from '../../database/parties.ts';
import { listDeliveries } from '../../database/webhookDeliveries.ts';
import { getWebhook, listWebhooks as list } from '../../database/webhooks.ts';
import { partyOf } from '../../domain/access.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { byCreation, START } from '../paging.ts';
import { addressed, requireWebhook, viewDelivery, viewWebhook } from './view.ts';

export const listWebhooks: Handler<'listWebhooks'> = async (exchange, _call, { path, query }) => {
  const party = partyOf(path);
  const page = exchange.pageTokens.page(['listWebhooks', party], query);
  const { items, more } = await list(exchange.db, party, page.after, page.limit);
  if (items.length === 0 && !(await partyExists(exchange.db, party))) throw partyNotFound(party);
  return {
    webhooks: items.map(viewWebhook),
    nextPageToken: page.next(more, items, byCreation),
  };
};

export const listWebhookDeliveries: Handler<'listWebhookDeliveries'> = async (
  exchange,
  _call,
  { path, query },
) => {
  const at = addressed(path);
  requireWebhook(await getWebhook(exchange.db, at.party, at.id), at);
  const page = exchange.pageTokens.page(['listWebhookDeliveries', path], query);
  const before = page.after === START ? undefined : BigInt(page.after.id);
  const { items, more } = await listDeliveries(exchange.db, at.id, before, page.limit);
  return {
    deliveries: items.map(({ delivery }) => viewDelivery(delivery)),
    nextPageToken: page.next(more, items, ({ delivery, number }) => ({
      time: delivery.createTime,
      id: String(number),
    })),
  };
};
