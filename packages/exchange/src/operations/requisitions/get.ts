/** One requisition, in the view of its data provider and in that of the measurement consumer. */
import type { RequestOf, Requisition } from '@measurement-exchange/contract';
import { getRequisition as getByProvider, getRequisitionOfMeasurement } from '../../database/requisitions.ts';
import { partyName } from '../../domain/access.ts';
import type { Call, Exchange } from '../context.ts';
import { viewRequisition, viewTombstone } from './view.ts';

export async function getRequisition(
  exchange: Exchange,
  _call: Call,
  { params, path }: RequestOf<'getRequisition'>,
): Promise<Requisition> {
  const provider = partyName('dataProvider', params.dataProvider);
  const found = await getByProvider(exchange.db, provider, params.requisition);
  if (found === undefined) return viewTombstone(exchange, path, { provider }, params.requisition);
  return viewRequisition(found, 'dataProvider');
}

export async function getMeasurementRequisition(
  exchange: Exchange,
  _call: Call,
  { params, path }: RequestOf<'getMeasurementRequisition'>,
): Promise<Requisition> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const { measurement, requisition } = params;
  const found = await getRequisitionOfMeasurement(exchange.db, consumer, measurement, requisition);
  if (found === undefined) return viewTombstone(exchange, path, { consumer, measurement }, requisition);
  return viewRequisition(found, 'measurementConsumer');
}
