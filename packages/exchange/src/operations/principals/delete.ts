import { deleteBinding } from '../../database/principals.ts';
import { requireFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { alreadySent, mutate } from '../mutate.ts';
import { viewPrincipal } from './view.ts';

export const deletePrincipal: Handler<'deletePrincipal'> = async (exchange, call, request) => {
  const { params, path: name } = request;
  const deleted = mutate('deletePrincipal', exchange, call, request, async (tx) => {
    const binding = requireFound(await deleteBinding(tx, params.principal), 'PRINCIPAL_NOT_FOUND', name);
    return {
      save: alreadySent,
      versions: [{ name, version: 1, time: exchange.clock() }],
      view: () => viewPrincipal(binding),
    };
  });
  // Clear the caches of principals even after an error. The binding may have been deleted although the request failed,
  // for example because the connection broke during the commit.
  return deleted.finally(exchange.principalsChanged);
};
