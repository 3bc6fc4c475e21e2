import { getEventGroup as get } from '../../database/eventGroups.ts';
import { eventGroupNotFound } from '../../domain/eventGroup.ts';
import type { Handler } from '../context.ts';
import { sideOf, viewEventGroups } from './view.ts';

export const getEventGroup: Handler<'getEventGroup'> = async (exchange, call, { params, path }) => {
  const { side, party } = sideOf(params);
  const group = await get(exchange.db, side, party, params.eventGroup);
  if (group === undefined) throw eventGroupNotFound(path);
  const [view] = await viewEventGroups(exchange.db, call, side, [group]);
  return view!;
};
