import type { Transaction } from '../../database/db.ts';
import { lockMeasurement } from '../../database/measurements.ts';
import { getTombstones } from '../../database/retention.ts';
import { saveMeasurement } from '../../database/writeMeasurements.ts';
import { partyName } from '../../domain/access.ts';
import type { Aggregate } from '../../domain/aggregate.ts';
import { cancel, measurementClosed } from '../../domain/measurement.ts';
import { authorOf, type Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { measurementNotFound } from './get.ts';
import { viewMeasurement } from './view.ts';

export const cancelMeasurement: Handler<'cancelMeasurement'> = async (exchange, call, request) => {
  const consumer = partyName('measurementConsumer', request.params.measurementConsumer);
  return mutate('cancelMeasurement', exchange, call, request, async (tx) => {
    const before = await lockOpen(tx, consumer, request.params.measurement);
    const change = cancel(before, exchange.clock());
    return {
      save: () => saveMeasurement(tx, before, change, authorOf(call)),
      view: () => viewMeasurement(change.after),
    };
  });
};

/** A removed measurement has only its final state left. */
async function lockOpen(tx: Transaction, consumer: string, id: string): Promise<Aggregate> {
  const aggregate = await lockMeasurement(tx, consumer, id);
  if (aggregate !== undefined) return aggregate;
  const tombstone = (await getTombstones(tx, consumer, [id])).get(id);
  throw tombstone === undefined ? measurementNotFound(consumer, id) : measurementClosed(tombstone);
}
