import { deleteApiKey as remove } from '../../database/apiKeys.ts';
import { partyOf } from '../../domain/access.ts';
import { requireFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { alreadySent, mutate } from '../mutate.ts';
import { viewApiKey } from './view.ts';

export const deleteApiKey: Handler<'deleteApiKey'> = async (exchange, call, request) => {
  const { params, path: name } = request;
  const deleted = mutate('deleteApiKey', exchange, call, request, async (tx) => {
    const found = await remove(tx, partyOf(name), params.apiKey);
    const apiKey = requireFound(found, 'API_KEY_NOT_FOUND', name);
    return {
      save: alreadySent,
      versions: [{ name, version: 1, time: exchange.clock() }],
      view: () => viewApiKey(apiKey),
    };
  });
  // Clear the caches even after an error, because the key may have been deleted despite the error.
  return deleted.finally(exchange.principalsChanged);
};
