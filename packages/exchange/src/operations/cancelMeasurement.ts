import type { Measurement, RequestOf } from '@measurement-exchange/contract';
import { lockMeasurement } from '../database/measurements.ts';
import { partyName } from '../domain/access.ts';
import { cancel } from '../domain/measurement.ts';
import { changeMeasurement } from './changeMeasurement.ts';
import type { Call, Exchange } from './context.ts';
import { foundMeasurement } from './measurements.ts';
import { viewMeasurement } from './views.ts';

export async function cancelMeasurement(
  x: Exchange,
  call: Call,
  request: RequestOf<'cancelMeasurement'>,
): Promise<Measurement> {
  const consumer = partyName('measurementConsumer', request.params.measurementConsumer);
  return changeMeasurement(x, call, {
    name: 'cancelMeasurement',
    validateOnly: request.validateOnly,
    load: async (tx) => {
      const { measurement } = request.params;
      const locked = await lockMeasurement(tx, consumer, measurement);
      return { aggregate: await foundMeasurement(tx, locked, consumer, measurement) };
    },
    decide: ({ aggregate }, now) => cancel(aggregate, now),
    view: viewMeasurement,
  });
}
