import { getEventGroup as get } from '../../database/eventGroups.ts';
import { requireFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { sideOf, viewEventGroups } from './view.ts';

export const getEventGroup: Handler<'getEventGroup'> = async (exchange, call, { params, path }) => {
  const { side, party } = sideOf(params);
  const group = await get[side](exchange.db, party, params.eventGroup);
  const found = requireFound(group, 'EVENT_GROUP_NOT_FOUND', path);
  const [view] = await viewEventGroups(exchange.db, call, side, [found]);
  return view!;
};
