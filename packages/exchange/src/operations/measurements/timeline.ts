import type { RequestOf, Timeline } from '@measurement-exchange/contract';
import { type TransitionRecord, transitionsOfMeasurement } from '../../database/log.ts';
import { partyName } from '../../domain/access.ts';
import type { Call, Exchange } from '../context.ts';
import { readMeasurement } from './get.ts';
import { measurementName } from './view.ts';

/** The consumer sees the measurement and all its requisitions. */
export async function getMeasurementTimeline(
  exchange: Exchange,
  _call: Call,
  { params }: RequestOf<'getMeasurementTimeline'>,
): Promise<Timeline> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const rows = await transitionsOfMeasurement(exchange.db, consumer, params.measurement);
  if (rows.length === 0) await readMeasurement(exchange.db, consumer, params.measurement);
  const name = measurementName({ consumer, id: params.measurement });
  return {
    transitions: rows.map((row) =>
      viewTransition(row, row.requisition === '' ? name : `${name}/requisitions/${row.requisition}`),
    ),
  };
}

export function viewTransition(
  { measurement: _m, requisition: _r, version: _v, ...transition }: TransitionRecord,
  resource: string,
): Timeline['transitions'][number] {
  return { resource, ...transition };
}
