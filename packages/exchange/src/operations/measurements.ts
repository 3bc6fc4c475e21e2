/** Reading measurements. */
import {
  ExchangeError,
  invalid,
  MEASUREMENT_STATES,
  type Measurement,
  parseName,
  type RequestOf,
  type ResponseOf,
} from '@measurement-exchange/contract';
import { partyName } from '../domain/access.ts';
import { getMeasurement as get, getMeasurements, listMeasurements as list } from '../sql/measurements.ts';
import type { Call, Exchange } from './context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_BATCH_BYTES, MAX_PAGE_BYTES } from './paging.ts';
import { measurementName, viewMeasurement } from './views.ts';

export function measurementNotFound(consumer: string, id: string): ExchangeError {
  const measurement = measurementName({ consumer, id });
  return new ExchangeError('MEASUREMENT_NOT_FOUND', `${measurement} does not exist.`, {
    metadata: { measurement },
  });
}

export async function getMeasurement(
  x: Exchange,
  _call: Call,
  { params }: RequestOf<'getMeasurement'>,
): Promise<Measurement> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const found = await get(x.db, consumer, params.measurement);
  if (found === undefined) throw measurementNotFound(consumer, params.measurement);
  return viewMeasurement(found);
}

export async function batchGetMeasurements(
  x: Exchange,
  _call: Call,
  { params, body }: RequestOf<'batchGetMeasurements'>,
): Promise<ResponseOf<'batchGetMeasurements'>> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const names = body.names.map((name) => parseName('measurement', name)!);
  const foreign = names.findIndex((name) => name.measurementConsumer !== params.measurementConsumer);
  if (foreign >= 0) throw invalid([{ field: `names[${foreign}]`, description: `must be under ${consumer}` }]);

  const ids = names.map((name) => name.measurement);
  const answer = await getMeasurements(x.db, consumer, ids, MAX_BATCH_BYTES);
  const existing = 'found' in answer ? answer.found : answer.tooLarge;
  const missing = ids.find((id) => !existing.has(id));
  if (missing !== undefined) throw measurementNotFound(consumer, missing);
  if ('tooLarge' in answer) {
    throw new ExchangeError('RESPONSE_TOO_LARGE', 'The answer would be above 64 MiB: ask for fewer names.');
  }
  return { measurements: ids.map((id) => viewMeasurement(answer.found.get(id)!)) };
}

export async function listMeasurements(
  x: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listMeasurements'>,
): Promise<ResponseOf<'listMeasurements'>> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const created = [query['filter.createdAfter'], query['filter.createdBefore']] as const;
  const updated = [query['filter.updatedAfter'], query['filter.updatedBefore']] as const;
  // With a bound on the update time the order follows it: a row that changes meanwhile moves on, unmissed.
  const order = updated.some((bound) => bound !== undefined) ? 'update_time' : 'create_time';
  const states = [...(query['filter.states'] ?? MEASUREMENT_STATES)].sort();
  const scope: ListScope = ['listMeasurements', consumer, states, created, updated];
  const { items, more } = await list(x.db, {
    consumer,
    states: [...new Set(states)],
    order,
    created: { after: created[0] ?? '-infinity', before: created[1] ?? 'infinity' },
    updated: { after: updated[0] ?? '-infinity', before: updated[1] ?? 'infinity' },
    after: x.pageTokens.read(scope, query.pageToken),
    limit: query.pageSize ?? DEFAULT_PAGE_SIZE,
    maxBytes: MAX_PAGE_BYTES,
  });
  const last = items.at(-1)?.measurement;
  return {
    measurements: items.map(viewMeasurement),
    nextPageToken: more
      ? x.pageTokens.write(scope, {
          time: order === 'create_time' ? last!.createTime : last!.updateTime,
          id: last!.id,
        })
      : undefined,
  };
}
