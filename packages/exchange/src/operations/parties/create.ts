import { ExchangeError, invalid, type PartyInput } from '@measurement-exchange/contract';
import { uniqueViolation } from '../../database/db.ts';
import { insertParty } from '../../database/parties.ts';
import { type PartyKind, partyName } from '../../domain/access.ts';
import { newParty, publicKeyUnverified } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { viewParty } from './view.ts';

const COLLECTIONS: Record<string, PartyKind> = {
  measurementConsumers: 'measurementConsumer',
  dataProviders: 'dataProvider',
  duchies: 'duchy',
};

export const createParty: Handler<'createParty'> = async (exchange, call, request) => {
  const kind = COLLECTIONS[request.path]!;
  const chosen = (request.query as Record<string, string | undefined>)[`${kind}Id`];
  const name = partyName(kind, chosen ?? exchange.newId());
  if ((request.body as PartyInput).publicKeyCertificate !== undefined) {
    throw invalid([{ field: 'publicKeyCertificate', description: 'must be absent: a new party has none' }]);
  }
  const party = newParty(name, request.body as PartyInput, exchange.clock(), exchange.duchyEndpoints);
  try {
    return await mutate('createParty', exchange, call, request, async (tx) => ({
      // Report a public key as unverified, because a new party has no certificate that could verify the key.
      findings: party.publicKey === undefined ? [] : [publicKeyUnverified()],
      save: () => insertParty(tx, party),
      savesToValidate: true,
      versions: [{ name, version: party.version, time: party.updateTime }],
      view: () => viewParty({ ...party, preferredCertificate: undefined }),
    }));
  } catch (error) {
    if (uniqueViolation(error) !== 'parties_pkey') throw error;
    throw new ExchangeError('PARTY_ALREADY_EXISTS', `${name} exists already.`, {
      metadata: { existing: name },
    });
  } finally {
    exchange.principalsChanged();
  }
};
