import type { RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { partyExists } from '../../database/parties.ts';
import { listDeliveries } from '../../database/webhookDeliveries.ts';
import { getWebhook, listWebhooks as list } from '../../database/webhooks.ts';
import { partyNotFound } from '../../domain/party.ts';
import { partyOf } from '../certificates/view.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, START } from '../paging.ts';
import { addressed, requireWebhook, viewDelivery, viewWebhook } from './view.ts';

export async function listWebhooks(
  exchange: Exchange,
  _call: Call,
  { path, query }: RequestOf<'listWebhooks'>,
): Promise<ResponseOf<'listWebhooks'>> {
  const party = partyOf(path);
  const scope: ListScope = ['listWebhooks', party];
  const after = exchange.pageTokens.read(scope, query.pageToken);
  const { items, more } = await list(exchange.db, party, after, query.pageSize ?? DEFAULT_PAGE_SIZE);
  if (items.length === 0 && !(await partyExists(exchange.db, party))) throw partyNotFound(party);
  const last = items.at(-1);
  return {
    webhooks: items.map(viewWebhook),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, { time: last!.createTime, id: last!.id })
      : undefined,
  };
}

/** The latest first. */
export async function listWebhookDeliveries(
  exchange: Exchange,
  _call: Call,
  { path, query }: RequestOf<'listWebhookDeliveries'>,
): Promise<ResponseOf<'listWebhookDeliveries'>> {
  const at = addressed(path);
  requireWebhook(await getWebhook(exchange.db, at.party, at.id), at);
  const scope: ListScope = ['listWebhookDeliveries', path];
  const after = exchange.pageTokens.read(scope, query.pageToken);
  const before = after === START ? undefined : BigInt(after.id);
  const { items, more } = await listDeliveries(
    exchange.db,
    at.id,
    before,
    query.pageSize ?? DEFAULT_PAGE_SIZE,
  );
  const last = items.at(-1);
  return {
    deliveries: items.map(({ delivery }) => viewDelivery(delivery)),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, { time: last!.delivery.createTime, id: String(last!.number) })
      : undefined,
  };
}
