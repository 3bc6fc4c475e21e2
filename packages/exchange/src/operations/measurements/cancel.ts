import { lockMeasurement } from '../../database/measurements.ts';
import { getTombstones } from '../../database/retention.ts';
import { saveMeasurements } from '../../database/writeMeasurements.ts';
import { partyName } from '../../domain/access.ts';
import { requireFound } from '../../domain/found.ts';
import { cancel, measurementClosed } from '../../domain/measurement.ts';
import { authorOf, type Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { viewMeasurement } from './view.ts';

export const cancelMeasurement: Handler<'cancelMeasurement'> = async (exchange, call, request) => {
  const consumer = partyName('measurementConsumer', request.params.measurementConsumer);
  return mutate('cancelMeasurement', exchange, call, request, async (tx) => {
    const { measurement: id } = request.params;
    const before = await lockMeasurement(tx, consumer, id);
    if (before === undefined) {
      // If the measurement was removed, report the final state from its tombstone.
      const tombstone = (await getTombstones(tx, consumer, [id])).get(id);
      throw measurementClosed(requireFound(tombstone, 'MEASUREMENT_NOT_FOUND', request.path));
    }
    const change = cancel(before, exchange.clock());
    return {
      save: () => saveMeasurements(tx, [{ before, change }], authorOf(call)),
      view: () => viewMeasurement(change.after),
    };
  });
};
