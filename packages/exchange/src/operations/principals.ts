/** Who speaks for whom: bindings of (issuer, subject) to a party or to the operator. */
import {
  ExchangeError,
  invalid,
  type PrincipalBinding,
  type RequestOf,
  type ResponseOf,
} from '@measurement-exchange/contract';
import { uniqueViolation } from '../database/db.ts';
import { partyExists } from '../database/parties.ts';
import {
  type BindingRecord,
  bindingOf,
  deleteBinding,
  insertBinding,
  listBindings,
} from '../database/principals.ts';
import { OPERATOR, parsePrincipal } from '../domain/access.ts';
import { partyNotFound } from '../domain/party.ts';
import { type Call, type Exchange, record } from './context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope } from './paging.ts';
import { asValidated } from './views.ts';

function nameOf({ id }: Pick<BindingRecord, 'id'>): string {
  return `principals/${id}`;
}

function view({ id, ...binding }: BindingRecord): PrincipalBinding {
  return { name: nameOf({ id }), ...binding };
}

export async function createPrincipal(
  x: Exchange,
  call: Call,
  { body, validateOnly }: RequestOf<'createPrincipal'>,
): Promise<PrincipalBinding> {
  if (parsePrincipal(body.resource) === undefined) {
    throw invalid([{ field: 'resource', description: 'must be the name of a party, or operator' }]);
  }
  const binding: BindingRecord = { id: x.newId(), ...body, createTime: x.clock() };
  try {
    return await x.db.tx('createPrincipal', async (tx) => {
      const exists = body.resource === OPERATOR.name || (await partyExists(tx, body.resource));
      if (!exists) throw partyNotFound(body.resource);
      await insertBinding(tx, binding);
      if (validateOnly) {
        tx.rollback();
        return asValidated(view(binding), []);
      }
      record(tx, call, 'createPrincipal', { name: nameOf(binding), version: 1, time: binding.createTime });
      return view(binding);
    });
  } catch (error) {
    if (uniqueViolation(error) !== 'principals_pkey') throw error;
    const existing = await bindingOf(x.db, body.issuer, body.subject);
    throw new ExchangeError('PRINCIPAL_ALREADY_EXISTS', 'This subject is bound already: unbind it first.', {
      metadata: existing ? { existing: `principals/${existing.id}`, resource: existing.resource } : {},
    });
  } finally {
    x.principalsChanged();
  }
}

export async function listPrincipals(
  x: Exchange,
  _call: Call,
  { query }: RequestOf<'listPrincipals'>,
): Promise<ResponseOf<'listPrincipals'>> {
  const resource = query['filter.resource'];
  const scope: ListScope = ['listPrincipals', '', resource];
  const after = x.pageTokens.read(scope, query.pageToken);
  const { items, more } = await listBindings(x.db, resource, after, query.pageSize ?? DEFAULT_PAGE_SIZE);
  const last = items.at(-1);
  return {
    principals: items.map(view),
    nextPageToken: more ? x.pageTokens.write(scope, { time: last!.createTime, id: last!.id }) : undefined,
  };
}

export async function deletePrincipal(
  x: Exchange,
  call: Call,
  { params, validateOnly }: RequestOf<'deletePrincipal'>,
): Promise<PrincipalBinding> {
  const deleted = x.db.tx('deletePrincipal', async (tx) => {
    const binding = await deleteBinding(tx, params.principal);
    if (binding === undefined) {
      const name = `principals/${params.principal}`;
      throw new ExchangeError('PRINCIPAL_NOT_FOUND', `${name} does not exist.`, {
        metadata: { principal: name },
      });
    }
    if (validateOnly) {
      tx.rollback();
      return asValidated(view(binding), []);
    }
    record(tx, call, 'deletePrincipal', { name: nameOf(binding), version: 1, time: x.clock() });
    return view(binding);
  });
  // Whatever came of it: where the outcome is not known, it may have been done.
  return deleted.finally(x.principalsChanged);
}
