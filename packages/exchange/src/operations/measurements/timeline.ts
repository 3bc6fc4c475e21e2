import type { RequestOf, Timeline } from '@measurement-exchange/contract';
import { type TransitionRow, transitionsOfMeasurement } from '../../database/log.ts';
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

export function viewTransition(row: TransitionRow, resource: string): Timeline['transitions'][number] {
  return {
    resource,
    from: row.from_state ?? undefined,
    to: row.to_state,
    time: row.time,
    actor: row.actor,
    cause: row.cause,
    requestId: row.request_id,
    findings: row.findings ?? undefined,
  };
}
