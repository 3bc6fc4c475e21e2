import { type RequestOf, type Timeline, WILDCARD } from '@measurement-exchange/contract';
import { type TransitionRow, transitionsOfMeasurement, transitionsOfRequisition } from '../database/log.ts';
import { partyName } from '../domain/access.ts';
import type { Call, Exchange } from './context.ts';
import { readMeasurement } from './measurements.ts';
import { tombstoneOf } from './requisitions.ts';
import { measurementName } from './views.ts';

/** The consumer sees the measurement and all its requisitions. */
export async function getMeasurementTimeline(
  x: Exchange,
  _call: Call,
  { params }: RequestOf<'getMeasurementTimeline'>,
): Promise<Timeline> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const rows = await transitionsOfMeasurement(x.db, consumer, params.measurement);
  if (rows.length === 0) await readMeasurement(x.db, consumer, params.measurement);
  const name = measurementName({ consumer, id: params.measurement });
  return {
    transitions: rows.map((row) =>
      viewTransition(row, row.requisition === '' ? name : `${name}/requisitions/${row.requisition}`),
    ),
  };
}

/** A provider sees its own part, and not which other provider's refusal withdrew it. */
export async function getRequisitionTimeline(
  x: Exchange,
  _call: Call,
  { params }: RequestOf<'getRequisitionTimeline'>,
): Promise<Timeline> {
  const provider = partyName('dataProvider', params.dataProvider);
  const name = `${provider}/requisitions/${params.requisition}`;
  const rows = await transitionsOfRequisition(x.db, provider, params.requisition);
  // The log of a removed requisition went with it.
  if (rows.length === 0) await tombstoneOf(x, name, { provider }, params.requisition);
  const isRival = (actor: string) => actor.startsWith('dataProviders/') && actor !== provider;
  return {
    transitions: rows.map((row) => ({
      ...viewTransition(row, name),
      actor: isRival(row.actor) ? partyName('dataProvider', WILDCARD) : row.actor,
    })),
  };
}

function viewTransition(row: TransitionRow, resource: string): Timeline['transitions'][number] {
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
