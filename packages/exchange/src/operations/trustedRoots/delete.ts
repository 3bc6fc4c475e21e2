import { ExchangeError } from '@measurement-exchange/contract';
import { deleteTrustedRoot as remove } from '../../database/trustedRoots.ts';
import type { Handler } from '../context.ts';
import { alreadySent, mutate } from '../mutate.ts';
import { trustedRootName, viewTrustedRoot } from './view.ts';

export const deleteTrustedRoot: Handler<'deleteTrustedRoot'> = async (exchange, call, request) => {
  const name = trustedRootName(request.params.trustedRoot);
  return mutate('deleteTrustedRoot', exchange, call, request, async (tx) => {
    const root = await remove(tx, request.params.trustedRoot);
    if (root === undefined) {
      throw new ExchangeError('TRUSTED_ROOT_NOT_FOUND', `${name} does not exist.`, {
        metadata: { trustedRoot: name },
      });
    }
    return {
      save: alreadySent,
      versions: [{ name, version: 1, time: exchange.clock() }],
      view: () => viewTrustedRoot(root),
    };
  });
};
