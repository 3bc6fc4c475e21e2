import type { PartyState } from '@measurement-exchange/contract';
import { setState } from '../../domain/party.ts';
import type { Handler } from '../context.ts';
import { changeParty } from './change.ts';

export const suspendParty = moveTo('suspendParty', 'SUSPENDED');
export const resumeParty = moveTo('resumeParty', 'ACTIVE');

function moveTo(
  operation: 'suspendParty' | 'resumeParty',
  state: PartyState,
): Handler<'suspendParty' | 'resumeParty'> {
  return (exchange, call, request) =>
    changeParty(operation, exchange, call, request, async (_tx, before, now) => ({
      after: setState(before, state, now),
    }));
}
