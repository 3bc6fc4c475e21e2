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
import type { Queryable } from '../database/db.ts';
import {
  getMeasurement as get,
  getMeasurements,
  listMeasurements as list,
} from '../database/measurements.ts';
import { getTombstones } from '../database/retention.ts';
import { partyName } from '../domain/access.ts';
import { type Aggregate, measurementClosed } from '../domain/measurement.ts';
import type { Call, Exchange } from './context.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_BATCH_BYTES, MAX_PAGE_BYTES } from './paging.ts';
import { measurementName, viewMeasurement, viewTombstone } from './views.ts';

export function measurementNotFound(consumer: string, id: string): ExchangeError {
  const measurement = measurementName({ consumer, id });
  return new ExchangeError('MEASUREMENT_NOT_FOUND', `${measurement} does not exist.`, {
    metadata: { measurement },
  });
}

/** The locked aggregate; a removed measurement is closed for good. */
export async function foundMeasurement(
  tx: Queryable,
  aggregate: Aggregate | undefined,
  consumer: string,
  id: string,
): Promise<Aggregate> {
  if (aggregate !== undefined) return aggregate;
  const tombstone = (await getTombstones(tx, consumer, [id])).get(id);
  throw tombstone === undefined ? measurementNotFound(consumer, id) : measurementClosed(tombstone);
}

/** A measurement as it is now, or what is left of it. */
export async function readMeasurement(db: Queryable, consumer: string, id: string): Promise<Measurement> {
  const found = await get(db, consumer, id);
  if (found !== undefined) return viewMeasurement(found);
  const tombstone = (await getTombstones(db, consumer, [id])).get(id);
  if (tombstone === undefined) throw measurementNotFound(consumer, id);
  return viewTombstone(tombstone);
}

export function getMeasurement(
  x: Exchange,
  _call: Call,
  { params }: RequestOf<'getMeasurement'>,
): Promise<Measurement> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  return readMeasurement(x.db, consumer, params.measurement);
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
  const missing = ids.filter((id) => !existing.has(id));
  const tombstones = missing.length > 0 ? await getTombstones(x.db, consumer, missing) : new Map();
  const absent = missing.find((id) => !tombstones.has(id));
  if (absent !== undefined) throw measurementNotFound(consumer, absent);
  if ('tooLarge' in answer) {
    throw new ExchangeError('RESPONSE_TOO_LARGE', 'The answer would be above 64 MiB: ask for fewer names.');
  }
  return {
    measurements: ids.map((id) => {
      const aggregate = answer.found.get(id);
      return aggregate ? viewMeasurement(aggregate) : viewTombstone(tombstones.get(id)!);
    }),
  };
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
