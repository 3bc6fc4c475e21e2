import { deleteTrustedRoot as remove } from '../../database/trustedRoots.ts';
import { requireFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { alreadySent, mutate } from '../mutate.ts';
import { viewTrustedRoot } from './view.ts';

export const deleteTrustedRoot: Handler<'deleteTrustedRoot'> = async (exchange, call, request) => {
  const { params, path: name } = request;
  const deleted = mutate('deleteTrustedRoot', exchange, call, request, async (tx) => {
    const root = requireFound(await remove(tx, params.trustedRoot), 'TRUSTED_ROOT_NOT_FOUND', name);
    return {
      save: alreadySent,
      versions: [{ name, version: 1, time: exchange.clock() }],
      view: () => viewTrustedRoot(root),
    };
  });
  return deleted.finally(exchange.principalsChanged);
};
