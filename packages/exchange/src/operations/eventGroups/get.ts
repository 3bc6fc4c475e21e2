import type { EventGroup, RequestOf } from '@measurement-exchange/contract';
import { getEventGroup as get } from '../../database/eventGroups.ts';
import { eventGroupNotFound } from '../../domain/eventGroup.ts';
import type { Call, Exchange } from '../context.ts';
import { sideOf, viewEventGroups } from './view.ts';

export async function getEventGroup(
  exchange: Exchange,
  call: Call,
  { params, path }: RequestOf<'getEventGroup'>,
): Promise<EventGroup> {
  const { side, party } = sideOf(params);
  const group = await get(exchange.db, side, party, params.eventGroup);
  if (group === undefined) throw eventGroupNotFound(path);
  const [view] = await viewEventGroups(exchange.db, call, side, [group]);
  return view!;
}
