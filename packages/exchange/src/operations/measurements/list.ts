import { MEASUREMENT_STATES } from '@measurement-exchange/contract';
import { listMeasurements as list } from '../../database/measurements.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { MAX_PAGE_BYTES } from '../paging.ts';
import { viewMeasurement } from './view.ts';

export const listMeasurements: Handler<'listMeasurements'> = async (exchange, _call, { params, query }) => {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const created = [query['filter.createdAfter'], query['filter.createdBefore']] as const;
  const updated = [query['filter.updatedAfter'], query['filter.updatedBefore']] as const;
  // A list filtered by update time is also sorted by it, so that a reader does not miss a measurement that changes between
  // pages.
  const order = updated.some((bound) => bound !== undefined) ? 'update_time' : 'create_time';
  const states = [...(query['filter.states'] ?? MEASUREMENT_STATES)].sort();
  const page = exchange.pageTokens.page(['listMeasurements', consumer, states, created, updated], query);
  const { items, more } = await list(exchange.db, {
    consumer,
    states: [...new Set(states)],
    order,
    created: { after: created[0] ?? '-infinity', before: created[1] ?? 'infinity' },
    updated: { after: updated[0] ?? '-infinity', before: updated[1] ?? 'infinity' },
    after: page.after,
    limit: page.limit,
    maxBytes: MAX_PAGE_BYTES,
  });
  return {
    measurements: items.map(viewMeasurement),
    nextPageToken: page.next(more, items, ({ measurement: last }) => ({
      time: order === 'create_time' ? last.createTime : last.updateTime,
      id: last.id,
    })),
  };
};
