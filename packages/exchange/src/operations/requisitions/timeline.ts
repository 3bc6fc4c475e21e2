import { WILDCARD } from '@measurement-exchange/contract';
import { transitionsOfRequisition } from '../../database/log.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { timelinePage, viewTransition } from '../measurements/timeline.ts';
import { viewTombstone } from './view.ts';

/** Returns a requisition's timeline. Hides the name of another provider whose refusal withdrew the requisition. */
export const getRequisitionTimeline: Handler<'getRequisitionTimeline'> = async (
  exchange,
  _call,
  { params: { dataProvider, requisition: id }, path: name, query },
) => {
  const provider = partyName('dataProvider', dataProvider);
  const page = timelinePage(exchange, 'getRequisitionTimeline', name, query);
  const rows = await transitionsOfRequisition(exchange.db, provider, id, page.after, page.size);
  // If there are no transitions, the requisition was removed or does not exist. This call throws if the requisition has
  // no tombstone.
  if (rows.items.length === 0) await viewTombstone(exchange, name, { provider }, id);
  const isRival = (actor: string) => actor.startsWith('dataProviders/') && actor !== provider;
  return {
    transitions: rows.items.map(({ transition }) => ({
      ...viewTransition(transition, name),
      actor: isRival(transition.actor) ? partyName('dataProvider', WILDCARD) : transition.actor,
    })),
    nextPageToken: page.nextToken(rows),
  };
};
