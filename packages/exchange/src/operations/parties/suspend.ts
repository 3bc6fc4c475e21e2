/** Suspending and resuming a party. */
import type { Operation, PartyState, RequestOf } from '@measurement-exchange/contract';
import { setState } from '../../domain/party.ts';
import type { Call, Exchange } from '../context.ts';
import { changeParty } from './change.ts';
import type { Party } from './view.ts';

export function suspendParty(exchange: Exchange, call: Call, request: RequestOf<'suspendParty'>) {
  return moveTo('SUSPENDED', 'suspendParty', exchange, call, request);
}

export function resumeParty(exchange: Exchange, call: Call, request: RequestOf<'resumeParty'>) {
  return moveTo('ACTIVE', 'resumeParty', exchange, call, request);
}

function moveTo(
  state: PartyState,
  operation: Operation,
  exchange: Exchange,
  call: Call,
  request: { path: string; validateOnly: boolean },
): Promise<Party> {
  return changeParty(operation, exchange, call, request, async (_tx, before, now) => ({
    after: setState(before, state, now),
  }));
}
