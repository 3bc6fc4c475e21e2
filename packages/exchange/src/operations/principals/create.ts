/** Binds a subject of a token issuer to a principal. From then on, the subject's tokens authenticate that principal. */
import { ExchangeError, invalid } from '@measurement-exchange/contract';
import { uniqueViolation } from '../../database/db.ts';
import { partyExists } from '../../database/parties.ts';
import { type BindingRecord, bindingOf, insertBinding } from '../../database/principals.ts';
import { OPERATOR, parsePrincipal } from '../../domain/access.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { principalName, viewPrincipal } from './view.ts';

export const createPrincipal: Handler<'createPrincipal'> = async (exchange, call, request) => {
  const { body } = request;
  if (parsePrincipal(body.resource) === undefined) {
    throw invalid([{ field: 'resource', description: 'must be the name of a party, or operator' }]);
  }
  const binding: BindingRecord = { id: exchange.newId(), ...body, createTime: exchange.clock() };
  try {
    return await mutate('createPrincipal', exchange, call, request, async (tx) => {
      const exists = body.resource === OPERATOR.name || (await partyExists(tx, body.resource));
      if (!exists) throw partyNotFound(body.resource);
      return {
        save: () => insertBinding(tx, binding),
        savesToValidate: true,
        versions: [{ name: principalName(binding.id), version: 1, time: binding.createTime }],
        view: () => viewPrincipal(binding),
      };
    });
  } catch (error) {
    if (uniqueViolation(error) !== 'principals_pkey') throw error;
    const existing = await bindingOf(exchange.db, body.issuer, body.subject);
    throw new ExchangeError('PRINCIPAL_ALREADY_EXISTS', 'This subject is bound already: unbind it first.', {
      metadata: existing ? { existing: principalName(existing.id), resource: existing.resource } : {},
    });
  } finally {
    exchange.principalsChanged();
  }
};
