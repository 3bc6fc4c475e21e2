import type { RequestOf, ResponseOf } from '@measurement-exchange/contract';
import { getParty as get } from '../../database/parties.ts';
import { partyNotFound } from '../../domain/party.ts';
import type { Call, Exchange } from '../context.ts';
import { viewParty } from './view.ts';

export async function getParty(
  exchange: Exchange,
  _call: Call,
  { path: name }: RequestOf<'getParty'>,
): Promise<ResponseOf<'getParty'>> {
  const found = await get(exchange.db, name, exchange.clock());
  if (found === undefined) throw partyNotFound(name);
  return viewParty(found);
}
