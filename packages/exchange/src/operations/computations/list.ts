import { COMPUTATION_STATES } from '@measurement-exchange/contract';
import { listComputations as list } from '../../database/computations.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { MAX_PAGE_BYTES } from '../paging.ts';
import { viewComputation } from './view.ts';

/** Lists computations by update time, so that a reader does not miss a computation that changes between two pages. */
export const listComputations: Handler<'listComputations'> = async (exchange, _call, { params, query }) => {
  const duchy = partyName('duchy', params.duchy);
  const updatedAfter = query['filter.updatedAfter'];
  const states = [...(query['filter.states'] ?? COMPUTATION_STATES)].sort();
  const page = exchange.pageTokens.page(['listComputations', duchy, states, updatedAfter], query);
  const { items, more } = await list(exchange.db, {
    duchy,
    states: [...new Set(states)],
    updatedAfter: updatedAfter ?? '-infinity',
    after: page.after,
    limit: page.limit,
    maxBytes: MAX_PAGE_BYTES,
  });
  return {
    computations: items.map((item) => viewComputation(item, duchy)),
    nextPageToken: page.next(more, items, ({ aggregate: { participants, measurement } }) => ({
      time: participants[0]!.updateTime,
      id: measurement.id,
    })),
  };
};
