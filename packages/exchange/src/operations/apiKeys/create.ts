import { randomBytes } from 'node:crypto';
import { ExchangeError } from '@measurement-exchange/contract';
import { countApiKeys, insertApiKey } from '../../database/apiKeys.ts';
import { lockParty } from '../../database/parties.ts';
import { partyOf } from '../../domain/access.ts';
import {
  API_KEY_BYTES,
  apiKeyHash,
  apiKeyName,
  MAX_API_KEYS,
  newApiKey,
  printApiKey,
} from '../../domain/apiKey.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { asValidated, mutate } from '../mutate.ts';
import { viewApiKey } from './view.ts';

export const createApiKey: Handler<'createApiKey'> = (exchange, call, request) => {
  const consumer = partyOf(request.path);
  const now = exchange.clock();
  const apiKey = newApiKey(consumer, exchange.newId(), request.body, now);
  return mutate('createApiKey', exchange, call, request, async (tx) => {
    // The lock makes a consumer's requests run one after another, so that they cannot exceed the limit.
    if ((await lockParty(tx, consumer, now)) === undefined) throw partyNotFound(consumer);
    if ((await countApiKeys(tx, consumer)) >= MAX_API_KEYS) throw tooManyApiKeys(consumer);
    const authenticationKey = printApiKey(randomBytes(API_KEY_BYTES));
    return {
      save: () => insertApiKey(tx, apiKey, apiKeyHash(authenticationKey)!),
      versions: [{ name: apiKeyName(consumer, apiKey.id), version: 1, time: now }],
      view: () => ({ ...viewApiKey(apiKey), authenticationKey }),
      viewValidated: () => asValidated(viewApiKey(apiKey), []),
    };
  });
};

function tooManyApiKeys(consumer: string): ExchangeError {
  const message = `${consumer} has ${MAX_API_KEYS} API keys, and may have no more: delete those that are not in use.`;
  return new ExchangeError('TOO_MANY_API_KEYS', message);
}
