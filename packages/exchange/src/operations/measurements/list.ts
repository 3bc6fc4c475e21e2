import { MEASUREMENT_STATES, type RequestOf } from '@measurement-exchange/contract';
import { listMeasurements as list, type MeasurementOrder } from '../../database/measurements.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { type ListScope, MAX_PAGE_BYTES, START } from '../paging.ts';
import { viewMeasurement } from './view.ts';

export const listMeasurements: Handler<'listMeasurements'> = async (exchange, _call, { params, query }) => {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const created = [query['filter.createdAfter'], query['filter.createdBefore']] as const;
  const updated = [query['filter.updatedAfter'], query['filter.updatedBefore']] as const;
  const referenceId = query['filter.measurementReferenceId'];
  const order = orderOf(query);
  const states = [...(query['filter.states'] ?? MEASUREMENT_STATES)].sort();
  const scope: ListScope = ['listMeasurements', consumer, states, created, updated];
  // Add the reference and the order only if the query sets one of them, so that page tokens from the previous version
  // of the exchange stay valid.
  if (referenceId !== undefined || query.orderBy !== undefined) scope.push(referenceId ?? null, order);
  const page = exchange.pageTokens.page(scope, query);
  const fromEnd = page.after === START && order === 'create_time_desc';
  const { items, more } = await list(exchange.db, {
    consumer,
    states: [...new Set(states)],
    order,
    referenceId,
    created: { after: created[0] ?? '-infinity', before: created[1] ?? 'infinity' },
    updated: { after: updated[0] ?? '-infinity', before: updated[1] ?? 'infinity' },
    after: fromEnd ? { time: 'infinity', id: '' } : page.after,
    limit: page.limit,
    maxBytes: MAX_PAGE_BYTES,
  });
  return {
    measurements: items.map(viewMeasurement),
    nextPageToken: page.next(more, items, ({ measurement: last }) => ({
      time: order === 'update_time' ? last.updateTime : last.createTime,
      id: last.id,
    })),
  };
};

/**
 * Returns the order of a list. A list that is filtered by update time is sorted by update time, so that a reader misses
 * no measurement that changes between pages. `orderBy` overrides this order.
 */
function orderOf(query: RequestOf<'listMeasurements'>['query']): MeasurementOrder {
  if (query.orderBy !== undefined) return query.orderBy === 'createTime' ? 'create_time' : 'create_time_desc';
  const isByUpdate =
    query['filter.updatedAfter'] !== undefined || query['filter.updatedBefore'] !== undefined;
  return isByUpdate ? 'update_time' : 'create_time';
}
