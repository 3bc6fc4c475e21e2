import { MEASUREMENT_STATES, type RequestOf, type ResponseOf } from '@measurement-exchange/contract';
import { listMeasurements as list } from '../../database/measurements.ts';
import { partyName } from '../../domain/access.ts';
import type { Call, Exchange } from '../context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from '../paging.ts';
import { viewMeasurement } from './view.ts';

export async function listMeasurements(
  exchange: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listMeasurements'>,
): Promise<ResponseOf<'listMeasurements'>> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const created = [query['filter.createdAfter'], query['filter.createdBefore']] as const;
  const updated = [query['filter.updatedAfter'], query['filter.updatedBefore']] as const;
  // With a bound on the update time the order follows it: a row that changes meanwhile moves on and is not missed.
  const order = updated.some((bound) => bound !== undefined) ? 'update_time' : 'create_time';
  const states = [...(query['filter.states'] ?? MEASUREMENT_STATES)].sort();
  const scope: ListScope = ['listMeasurements', consumer, states, created, updated];
  const { items, more } = await list(exchange.db, {
    consumer,
    states: [...new Set(states)],
    order,
    created: { after: created[0] ?? '-infinity', before: created[1] ?? 'infinity' },
    updated: { after: updated[0] ?? '-infinity', before: updated[1] ?? 'infinity' },
    after: exchange.pageTokens.read(scope, query.pageToken),
    limit: query.pageSize ?? DEFAULT_PAGE_SIZE,
    maxBytes: MAX_PAGE_BYTES,
  });
  const last = items.at(-1)?.measurement;
  return {
    measurements: items.map(viewMeasurement),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, {
          time: order === 'create_time' ? last!.createTime : last!.updateTime,
          id: last!.id,
        })
      : undefined,
  };
}
