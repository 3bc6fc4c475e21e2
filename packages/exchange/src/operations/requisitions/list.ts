/** Lists of requisitions, in the view of the data provider and in that of the measurement consumer. */
import { REQUISITION_STATES, type RequestOf, type ResponseOf } from '@measurement-exchange/contract';
import { listRequisitions as list, type RequisitionListQuery } from '../../database/requisitions.ts';
import { partyName } from '../../domain/access.ts';
import type { Call, Exchange } from '../context.ts';
import { readMeasurement } from '../measurements/get.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from '../paging.ts';
import { viewRequisition } from './view.ts';

export async function listRequisitions(
  exchange: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listRequisitions'>,
): Promise<ResponseOf<'listRequisitions'>> {
  const provider = partyName('dataProvider', params.dataProvider);
  return page(exchange, 'dataProvider', ['listRequisitions', provider], { provider }, query);
}

export async function listMeasurementRequisitions(
  exchange: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listMeasurementRequisitions'>,
): Promise<ResponseOf<'listMeasurementRequisitions'>> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const parent = { consumer, measurement: params.measurement };
  const unfiltered: ListScope = ['listMeasurementRequisitions', `${consumer}/${params.measurement}`];
  const response = await page(exchange, 'measurementConsumer', unfiltered, parent, query);
  // Every measurement has requisitions, but a filter may leave none: only then look for the parent.
  if (response.requisitions.length === 0) await readMeasurement(exchange.db, consumer, params.measurement);
  return response;
}

async function page(
  exchange: Exchange,
  view: 'dataProvider' | 'measurementConsumer',
  unfiltered: ListScope,
  parent: RequisitionListQuery['parent'],
  query: RequestOf<'listRequisitions'>['query'],
): Promise<ResponseOf<'listRequisitions'>> {
  const updatedAfter = query['filter.updatedAfter'];
  const order = updatedAfter === undefined ? 'create_time' : 'update_time';
  const states = [...(query['filter.states'] ?? REQUISITION_STATES)].sort();
  const scope: ListScope = [...unfiltered, states, updatedAfter];
  const { items, more } = await list(exchange.db, {
    parent,
    states: [...new Set(states)],
    order,
    updatedAfter: updatedAfter ?? '-infinity',
    after: exchange.pageTokens.read(scope, query.pageToken),
    limit: query.pageSize ?? DEFAULT_PAGE_SIZE,
    maxBytes: MAX_PAGE_BYTES,
  });
  const last = items.at(-1)?.requisition;
  return {
    requisitions: items.map((item) => viewRequisition(item, view)),
    nextPageToken: more
      ? exchange.pageTokens.write(scope, {
          time: order === 'create_time' ? last!.createTime : last!.updateTime,
          id: last!.id,
        })
      : undefined,
  };
}
