import { COMPUTATION_STATES } from '@measurement-exchange/contract';
import { listComputations as list } from '../../database/computations.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { type ListScope, MAX_PAGE_BYTES, START } from '../paging.ts';
import { viewComputation } from './view.ts';

/**
 * Lists computations by update time. In ascending order, a reader misses no computation that changes between two pages.
 */
export const listComputations: Handler<'listComputations'> = async (exchange, _call, { params, query }) => {
  const duchy = partyName('duchy', params.duchy);
  const updatedAfter = query['filter.updatedAfter'];
  const states = [...(query['filter.states'] ?? COMPUTATION_STATES)].sort();
  const isDescending = query.orderBy === 'updateTime desc';
  const scope: ListScope = ['listComputations', duchy, states, updatedAfter];
  // Add `orderBy` only if it is set, so that page tokens from the previous version of the exchange stay valid.
  if (query.orderBy !== undefined) scope.push(query.orderBy);
  const page = exchange.pageTokens.page(scope, query);
  const fromEnd = page.after === START && isDescending;
  const { items, more } = await list(exchange.db, {
    duchy,
    states: [...new Set(states)],
    direction: isDescending ? 'descending' : 'ascending',
    updatedAfter: updatedAfter ?? '-infinity',
    after: fromEnd ? { time: 'infinity', id: '' } : page.after,
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
