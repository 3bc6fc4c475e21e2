import { getParty as get } from '../../database/parties.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { viewParty } from './view.ts';

export const getParty: Handler<'getParty'> = async (exchange, _call, { path: name }) => {
  const found = await get(exchange.db, name, exchange.clock());
  if (found === undefined) throw partyNotFound(name);
  return viewParty(found);
};
