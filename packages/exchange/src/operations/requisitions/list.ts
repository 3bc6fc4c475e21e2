/** Lists the requisitions of a data provider, or of a measurement. */
import { REQUISITION_STATES, type RequestOf, type ResponseOf } from '@measurement-exchange/contract';
import {
  listRequisitions as list,
  type RequisitionListQuery,
  type RequisitionOrder,
} from '../../database/requisitions.ts';
import { partyName } from '../../domain/access.ts';
import type { Exchange, Handler } from '../context.ts';
import { readMeasurement } from '../measurements/get.ts';
import { type ListScope, MAX_PAGE_BYTES, START } from '../paging.ts';
import { viewRequisition } from './view.ts';

export const listRequisitions: Handler<'listRequisitions'> = async (exchange, _call, { params, query }) => {
  const provider = partyName('dataProvider', params.dataProvider);
  return listOf(exchange, 'dataProvider', ['listRequisitions', provider], { provider }, query);
};

export const listMeasurementRequisitions: Handler<'listMeasurementRequisitions'> = async (
  exchange,
  _call,
  { params, query },
) => {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const parent = { consumer, measurement: params.measurement };
  const unfiltered: ListScope = ['listMeasurementRequisitions', `${consumer}/${params.measurement}`];
  const response = await listOf(exchange, 'measurementConsumer', unfiltered, parent, query);
  // Every measurement has requisitions. If the list is empty, either the filter excludes all requisitions, or the
  // measurement does not exist. This call throws if the measurement does not exist.
  if (response.requisitions.length === 0) await readMeasurement(exchange.db, consumer, params.measurement);
  return response;
};

async function listOf(
  exchange: Exchange,
  view: 'dataProvider' | 'measurementConsumer',
  unfiltered: ListScope,
  parent: RequisitionListQuery['parent'],
  query: RequestOf<'listRequisitions' | 'listMeasurementRequisitions'>['query'],
): Promise<ResponseOf<'listRequisitions'>> {
  const updatedAfter = query['filter.updatedAfter'];
  const order = orderOf(query);
  const states = [...(query['filter.states'] ?? REQUISITION_STATES)].sort();
  const scope: ListScope = [...unfiltered, states, updatedAfter];
  // Add `orderBy` only if it is set, so that page tokens from the previous version of the exchange stay valid.
  if ('orderBy' in query && query.orderBy !== undefined) scope.push(order);
  const page = exchange.pageTokens.page(scope, query);
  const fromEnd = page.after === START && order === 'create_time_desc';
  const { items, more } = await list(exchange.db, {
    parent,
    states: [...new Set(states)],
    order,
    updatedAfter: updatedAfter ?? '-infinity',
    after: fromEnd ? { time: 'infinity', id: '' } : page.after,
    limit: page.limit,
    maxBytes: MAX_PAGE_BYTES,
  });
  return {
    requisitions: items.map((item) => viewRequisition(item, view)),
    nextPageToken: page.next(more, items, ({ requisition: last }) => ({
      time: order === 'update_time' ? last.updateTime : last.createTime,
      id: last.id,
    })),
  };
}

/**
 * Returns the order of a list. By default, a list that is filtered by update time is sorted by update time, and any
 * other list by creation time. `orderBy` overrides the default.
 */
function orderOf(query: Partial<RequestOf<'listRequisitions'>['query']>): RequisitionOrder {
  if (query.orderBy !== undefined) return query.orderBy === 'createTime' ? 'create_time' : 'create_time_desc';
  return query['filter.updatedAfter'] === undefined ? 'create_time' : 'update_time';
}
