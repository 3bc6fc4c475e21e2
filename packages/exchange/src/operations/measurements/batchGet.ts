import { invalid, parseName } from '@measurement-exchange/contract';
import { getMeasurements } from '../../database/measurements.ts';
import { getTombstones } from '../../database/retention.ts';
import { partyName } from '../../domain/access.ts';
import { measurementName } from '../../domain/aggregate.ts';
import { notFound } from '../../domain/found.ts';
import type { Handler } from '../context.ts';
import { MAX_BATCH_BYTES, responseTooLarge } from '../paging.ts';
import { viewMeasurement, viewTombstone } from './view.ts';

export const batchGetMeasurements: Handler<'batchGetMeasurements'> = async (
  exchange,
  _call,
  { params, body },
) => {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const names = body.names.map((name) => parseName('measurement', name)!);
  const foreign = names.findIndex((name) => name.measurementConsumer !== params.measurementConsumer);
  if (foreign >= 0) throw invalid([{ field: `names[${foreign}]`, description: `must be under ${consumer}` }]);

  const ids = names.map((name) => name.measurement);
  const batch = await getMeasurements(exchange.db, consumer, ids, MAX_BATCH_BYTES);
  const existing = 'found' in batch ? batch.found : batch.tooLarge;
  const missing = ids.filter((id) => !existing.has(id));
  const tombstones = missing.length > 0 ? await getTombstones(exchange.db, consumer, missing) : new Map();
  const absent = missing.find((id) => !tombstones.has(id));
  if (absent !== undefined) {
    throw notFound('MEASUREMENT_NOT_FOUND', measurementName({ consumer, id: absent }));
  }
  if ('tooLarge' in batch) throw responseTooLarge();
  return {
    measurements: ids.map((id) => {
      const aggregate = batch.found.get(id);
      return aggregate ? viewMeasurement(aggregate) : viewTombstone(tombstones.get(id)!);
    }),
  };
};
