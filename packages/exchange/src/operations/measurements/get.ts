import { ExchangeError, type Measurement } from '@measurement-exchange/contract';
import type { Queryable } from '../../database/db.ts';
import { getMeasurement as get } from '../../database/measurements.ts';
import { getTombstones } from '../../database/retention.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { measurementName, viewMeasurement, viewTombstone } from './view.ts';

export const getMeasurement: Handler<'getMeasurement'> = (exchange, _call, { params }) => {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  return readMeasurement(exchange.db, consumer, params.measurement);
};

/** A measurement as it is now, or its tombstone. */
export async function readMeasurement(db: Queryable, consumer: string, id: string): Promise<Measurement> {
  const found = await get(db, consumer, id);
  if (found !== undefined) return viewMeasurement(found);
  const tombstone = (await getTombstones(db, consumer, [id])).get(id);
  if (tombstone === undefined) throw measurementNotFound(consumer, id);
  return viewTombstone(tombstone);
}

export function measurementNotFound(consumer: string, id: string): ExchangeError {
  const measurement = measurementName({ consumer, id });
  return new ExchangeError('MEASUREMENT_NOT_FOUND', `${measurement} does not exist.`, {
    metadata: { measurement },
  });
}
