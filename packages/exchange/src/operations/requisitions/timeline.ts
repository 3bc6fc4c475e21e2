import { WILDCARD } from '@measurement-exchange/contract';
import { transitionsOfRequisition } from '../../database/log.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { timelinePage, viewTransition } from '../measurements/timeline.ts';
import { viewTombstone } from './view.ts';

/** A provider sees its own part, and not which other provider's refusal withdrew it. */
export const getRequisitionTimeline: Handler<'getRequisitionTimeline'> = async (
  exchange,
  _call,
  { params, query },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const name = `${provider}/requisitions/${params.requisition}`;
  const page = timelinePage(exchange, 'getRequisitionTimeline', name, query);
  const rows = await transitionsOfRequisition(
    exchange.db,
    provider,
    params.requisition,
    page.after,
    page.size,
  );
  // The log of a removed requisition was removed with it: only fails where there is no tombstone either.
  if (rows.items.length === 0) await viewTombstone(exchange, name, { provider }, params.requisition);
  const isRival = (actor: string) => actor.startsWith('dataProviders/') && actor !== provider;
  return {
    transitions: rows.items.map(({ transition }) => ({
      ...viewTransition(transition, name),
      actor: isRival(transition.actor) ? partyName('dataProvider', WILDCARD) : transition.actor,
    })),
    nextPageToken: page.nextToken(rows),
  };
};
