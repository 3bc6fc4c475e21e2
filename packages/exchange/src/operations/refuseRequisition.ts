import type { RequestOf, Requisition } from '@measurement-exchange/contract';
import { lockByRequisition } from '../database/measurements.ts';
import { partyName } from '../domain/access.ts';
import { refuse } from '../domain/measurement.ts';
import { changeMeasurement } from './changeMeasurement.ts';
import type { Call, Exchange } from './context.ts';
import { foundRequisition, viewOwn } from './requisitions.ts';

export async function refuseRequisition(
  x: Exchange,
  call: Call,
  request: RequestOf<'refuseRequisition'>,
): Promise<Requisition> {
  const { params, body } = request;
  const provider = partyName('dataProvider', params.dataProvider);
  return changeMeasurement(x, call, {
    name: 'refuseRequisition',
    validateOnly: request.validateOnly,
    load: async (tx) => {
      const aggregate = await lockByRequisition(tx, provider, params.requisition);
      return { aggregate: await foundRequisition(tx, aggregate, provider, params.requisition) };
    },
    decide: ({ aggregate }, now) => refuse(aggregate, params.requisition, body, now),
    view: (after) => viewOwn(after, params.requisition),
  });
}
