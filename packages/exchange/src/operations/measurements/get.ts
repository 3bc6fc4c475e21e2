import type { Measurement } from '@measurement-exchange/contract';
import type { Queryable } from '../../database/db.ts';
import { getMeasurement as get } from '../../database/measurements.ts';
import { getTombstones } from '../../database/retention.ts';
import { partyName } from '../../domain/access.ts';
import { measurementName } from '../../domain/aggregate.ts';
import { requireFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { viewMeasurement, viewTombstone } from './view.ts';

export const getMeasurement: Handler<'getMeasurement'> = (exchange, _call, { params }) => {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  return readMeasurement(exchange.db, consumer, params.measurement);
};

export async function readMeasurement(db: Queryable, consumer: string, id: string): Promise<Measurement> {
  const found = await get(db, consumer, id);
  if (found !== undefined) return viewMeasurement(found);
  const tombstone = (await getTombstones(db, consumer, [id])).get(id);
  return viewTombstone(requireFound(tombstone, 'MEASUREMENT_NOT_FOUND', measurementName({ consumer, id })));
}
