import { ExchangeError } from '@measurement-exchange/contract';
import { deleteBinding } from '../../database/principals.ts';
import type { Handler } from '../context.ts';
import { alreadySent, mutate } from '../mutate.ts';
import { principalName, viewPrincipal } from './view.ts';

export const deletePrincipal: Handler<'deletePrincipal'> = async (exchange, call, request) => {
  const name = principalName(request.params.principal);
  const deleted = mutate('deletePrincipal', exchange, call, request, async (tx) => {
    const binding = await deleteBinding(tx, request.params.principal);
    if (binding === undefined) {
      throw new ExchangeError('PRINCIPAL_NOT_FOUND', `${name} does not exist.`, {
        metadata: { principal: name },
      });
    }
    return {
      save: alreadySent,
      versions: [{ name, version: 1, time: exchange.clock() }],
      view: () => viewPrincipal(binding),
    };
  });
  // Also after an error: where the outcome is not known, the binding may be gone.
  return deleted.finally(exchange.principalsChanged);
};
