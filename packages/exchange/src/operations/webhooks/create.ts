import { randomBytes } from 'node:crypto';
import { ExchangeError } from '@measurement-exchange/contract';
import { latestPosition } from '../../database/changes.ts';
import { lockParty } from '../../database/parties.ts';
import { countWebhooks, insertWebhook } from '../../database/webhooks.ts';
import { partyOf } from '../../domain/access.ts';
import { partyNotFound } from '../../domain/party.ts';
import { MAX_WEBHOOKS, newWebhook, printSecret, SECRET_BYTES, webhookName } from '../../domain/webhook.ts';
import type { Handler } from '../context.ts';
import { asValidated, mutate } from '../mutate.ts';
import { viewWebhook } from './view.ts';

export const createWebhook: Handler<'createWebhook'> = async (exchange, call, request) => {
  const party = partyOf(request.path);
  const now = exchange.clock();
  const webhook = newWebhook(party, exchange.newId(), request.body, now, exchange.allowsHttp);
  const created = await mutate('createWebhook', exchange, call, request, async (tx) => {
    // The lock makes a party's requests run one after another, so that they cannot exceed the webhook limit.
    if ((await lockParty(tx, party, now)) === undefined) throw partyNotFound(party);
    const [count, position] = await Promise.all([countWebhooks(tx, party), latestPosition(tx, party)]);
    if (count >= MAX_WEBHOOKS) {
      throw new ExchangeError(
        'TOO_MANY_WEBHOOKS',
        `${party} has ${count} webhooks, and may have ${MAX_WEBHOOKS}: update or delete one.`,
      );
    }
    const secret = randomBytes(SECRET_BYTES);
    const sealed = exchange.secrets.seal(webhook.id, secret);
    return {
      save: () => insertWebhook(tx, webhook, sealed, position),
      versions: [{ name: webhookName(party, webhook.id), version: 1, time: now }],
      view: () => ({ ...viewWebhook(webhook), secret: printSecret(secret) }),
      viewValidated: () => asValidated(viewWebhook(webhook), []),
    };
  });
  exchange.bus.emit('work');
  return created;
};
