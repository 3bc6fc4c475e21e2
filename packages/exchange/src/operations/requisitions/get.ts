import { getRequisition as getByProvider, getRequisitionOfMeasurement } from '../../database/requisitions.ts';
import { partyName } from '../../domain/access.ts';
import type { Handler } from '../context.ts';
import { viewRequisition, viewTombstone } from './view.ts';

export const getRequisition: Handler<'getRequisition'> = async (exchange, _call, { params, path }) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const found = await getByProvider(exchange.db, provider, params.requisition);
  if (found === undefined) return viewTombstone(exchange, path, { provider }, params.requisition);
  return viewRequisition(found, 'dataProvider');
};

export const getMeasurementRequisition: Handler<'getMeasurementRequisition'> = async (
  exchange,
  _call,
  { params, path },
) => {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const { measurement, requisition } = params;
  const found = await getRequisitionOfMeasurement(exchange.db, consumer, measurement, requisition);
  if (found === undefined) return viewTombstone(exchange, path, { consumer, measurement }, requisition);
  return viewRequisition(found, 'measurementConsumer');
};
