import type { Finding, Operation, Timestamp } from '@measurement-exchange/contract';
import type { Transaction } from '../../database/db.ts';
import { lockParty, saveParty } from '../../database/parties.ts';
import { type PartyRecord, partyNotFound } from '../../domain/party.ts';
import type { Call, Exchange } from '../context.ts';
import { mutate } from '../mutate.ts';
import { type Party, viewParty } from './view.ts';

export function changeParty(
  operation: Operation,
  exchange: Exchange,
  call: Call,
  request: { path: string; validateOnly: boolean },
  decide: (
    tx: Transaction,
    before: PartyRecord,
    now: Timestamp,
  ) => Promise<{ after: PartyRecord; findings?: Finding[] }>,
): Promise<Party> {
  const { path: name } = request;
  const changed = mutate(operation, exchange, call, request, async (tx) => {
    const now = exchange.clock();
    const before = await lockParty(tx, name, now);
    if (before === undefined) throw partyNotFound(name);
    const { after, findings = [] } = await decide(tx, before, now);
    return {
      findings,
      save: after.version === before.version ? undefined : () => saveParty(tx, after),
      versions: [{ name, version: after.version, time: after.updateTime }],
      view: () => viewParty({ ...after, preferredCertificate: before.preferredCertificate }),
    };
  });
  // Clear the caches of principals even after an error. The change may have been committed although the request failed,
  // for example because the connection broke during the commit.
  return changed.finally(exchange.principalsChanged);
}
