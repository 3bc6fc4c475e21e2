/** Reading requisitions, in the view of the data provider and in that of the measurement consumer. */
import {
  ExchangeError,
  REQUISITION_STATES,
  type RequestOf,
  type Requisition,
  type ResponseOf,
} from '@measurement-exchange/contract';
import type { Queryable } from '../database/db.ts';
import {
  getRequisition as getByProvider,
  getRequisitionOfMeasurement,
  listRequisitions as list,
  type RequisitionListQuery,
} from '../database/requisitions.ts';
import { getRequisitionTombstone } from '../database/retention.ts';
import { partyName } from '../domain/access.ts';
import { type Aggregate, requisitionClosed } from '../domain/measurement.ts';
import type { Call, Exchange } from './context.ts';
import { readMeasurement } from './measurements.ts';
import { DEFAULT_PAGE_SIZE, type ListScope, MAX_PAGE_BYTES } from './paging.ts';
import { viewRequisition, viewRequisitionTombstone } from './views.ts';

function requisitionNotFound(name: string): ExchangeError {
  return new ExchangeError('REQUISITION_NOT_FOUND', `${name} does not exist.`, {
    metadata: { requisition: name },
  });
}

/** The locked aggregate; a removed requisition is closed for good. */
export async function foundRequisition(
  tx: Queryable,
  aggregate: Aggregate | undefined,
  provider: string,
  id: string,
): Promise<Aggregate> {
  if (aggregate !== undefined) return aggregate;
  const name = `${provider}/requisitions/${id}`;
  const tombstone = await getRequisitionTombstone(tx, { provider }, id);
  if (tombstone === undefined) throw requisitionNotFound(name);
  throw requisitionClosed(name, tombstone.state);
}

/** A requisition of a changed aggregate, for the provider that changed it. */
export function viewOwn(after: Aggregate, id: string): Requisition {
  const requisition = after.requisitions.find((r) => r.id === id)!;
  return viewRequisition(requisition, after.measurement, 'dataProvider');
}

/** What is left of a requisition whose measurement the retention removed. */
export async function tombstoneOf(
  x: Exchange,
  name: string,
  by: Parameters<typeof getRequisitionTombstone>[1],
  id: string,
): Promise<Requisition> {
  const tombstone = await getRequisitionTombstone(x.db, by, id);
  if (tombstone === undefined) throw requisitionNotFound(name);
  return viewRequisitionTombstone(name, tombstone);
}

export async function getRequisition(
  x: Exchange,
  _call: Call,
  { params, path }: RequestOf<'getRequisition'>,
): Promise<Requisition> {
  const provider = partyName('dataProvider', params.dataProvider);
  const found = await getByProvider(x.db, provider, params.requisition);
  if (found === undefined) return tombstoneOf(x, path, { provider }, params.requisition);
  return viewRequisition(found.requisition, found.measurement, 'dataProvider');
}

export async function getMeasurementRequisition(
  x: Exchange,
  _call: Call,
  { params, path }: RequestOf<'getMeasurementRequisition'>,
): Promise<Requisition> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const { measurement, requisition } = params;
  const found = await getRequisitionOfMeasurement(x.db, consumer, measurement, requisition);
  if (found === undefined) return tombstoneOf(x, path, { consumer, measurement }, requisition);
  return viewRequisition(found.requisition, found.measurement, 'measurementConsumer');
}

export async function listRequisitions(
  x: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listRequisitions'>,
): Promise<ResponseOf<'listRequisitions'>> {
  const provider = partyName('dataProvider', params.dataProvider);
  return page(x, 'dataProvider', ['listRequisitions', provider], { provider }, query);
}

export async function listMeasurementRequisitions(
  x: Exchange,
  _call: Call,
  { params, query }: RequestOf<'listMeasurementRequisitions'>,
): Promise<ResponseOf<'listMeasurementRequisitions'>> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const parent = { consumer, measurement: params.measurement };
  const scope: ListScope = ['listMeasurementRequisitions', `${consumer}/${params.measurement}`];
  const answer = await page(x, 'measurementConsumer', scope, parent, query);
  // Every measurement has requisitions, but a filter may leave none: only then look for the parent.
  if (answer.requisitions.length === 0) await readMeasurement(x.db, consumer, params.measurement);
  return answer;
}

async function page(
  x: Exchange,
  view: 'dataProvider' | 'measurementConsumer',
  list_: ListScope,
  parent: RequisitionListQuery['parent'],
  query: RequestOf<'listRequisitions'>['query'],
): Promise<ResponseOf<'listRequisitions'>> {
  const updatedAfter = query['filter.updatedAfter'];
  const order = updatedAfter === undefined ? 'create_time' : 'update_time';
  const states = [...(query['filter.states'] ?? REQUISITION_STATES)].sort();
  const scope: ListScope = [...list_, states, updatedAfter];
  const { items, more } = await list(x.db, {
    parent,
    states: [...new Set(states)],
    order,
    updatedAfter: updatedAfter ?? '-infinity',
    after: x.pageTokens.read(scope, query.pageToken),
    limit: query.pageSize ?? DEFAULT_PAGE_SIZE,
    maxBytes: MAX_PAGE_BYTES,
  });
  const last = items.at(-1)?.requisition;
  return {
    requisitions: items.map((item) => viewRequisition(item.requisition, item.measurement, view)),
    nextPageToken: more
      ? x.pageTokens.write(scope, {
          time: order === 'create_time' ? last!.createTime : last!.updateTime,
          id: last!.id,
        })
      : undefined,
  };
}
