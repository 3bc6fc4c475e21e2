import type { PartyHealth, Timestamp } from '@measurement-exchange/contract';
import { listPartyHealth as list, type PartyHealthRow } from '../../database/partyHealth.ts';
import { webhookHealth } from '../../database/webhooks.ts';
import { certificateName } from '../../domain/certificate.ts';
import { hoursBefore } from '../../domain/time.ts';
import type { WebhookHealth } from '../../domain/webhook.ts';
import type { Exchange, Handler } from '../context.ts';
import { countOf, countWebhooks } from '../counts.ts';

/** The maximum number of parties on a page. It is small, because the query counts rows three times for each party. */
const MAX_PARTIES = 100;
const DAY_MS = 24 * 3600_000;

export const listPartyHealth: Handler<'listPartyHealth'> = async (exchange, _call, { query }) => {
  const { db } = exchange;
  const page = exchange.pageTokens.page(['listPartyHealth', ''], query);
  const now = exchange.clock();
  const ages = [hoursBefore(now, 24), hoursBefore(now, 1)] as const;
  const { items, more } = await list(db, page.after.id, Math.min(page.limit, MAX_PARTIES), now, ...ages);
  const webhooks = await webhookHealth(
    db,
    items.map(({ name }) => name),
  );
  const byParty = Map.groupBy(webhooks, ({ party }) => party);
  return {
    partyHealth: items.map((row) => viewHealth(exchange, row, byParty.get(row.name) ?? [], now)),
    nextPageToken: page.next(more, items, ({ name }) => ({ time: '-infinity', id: name })),
  };
};

function viewHealth(
  { lastSeen }: Exchange,
  row: PartyHealthRow,
  webhooks: WebhookHealth[],
  now: Timestamp,
): PartyHealth {
  const { name, displayName, state, certificate, notAfter, underHour, underDay, older } = row;
  return {
    name,
    displayName,
    state,
    lastSeen: lastSeen.latest(name, row.lastSeen ?? undefined),
    certificate:
      certificate === null
        ? undefined
        : {
            name: certificateName(name, certificate),
            notAfter: notAfter!,
            daysLeft: Math.floor((Date.parse(notAfter!) - Date.parse(now)) / DAY_MS),
          },
    open: countOf(underHour + underDay + older),
    openByAge: { underHour: countOf(underHour), underDay: countOf(underDay), older: countOf(older) },
    oldestOpenTime: row.oldestOpenTime ?? undefined,
    webhooks: countWebhooks(webhooks),
  };
}
