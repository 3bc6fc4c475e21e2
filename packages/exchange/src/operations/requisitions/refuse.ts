import { saveMeasurements } from '../../database/writeMeasurements.ts';
import { partyName } from '../../domain/access.ts';
import { refuse } from '../../domain/measurement.ts';
import { authorOf, type Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { lockRequisition } from './lock.ts';
import { viewOwn } from './view.ts';

export const refuseRequisition: Handler<'refuseRequisition'> = async (exchange, call, request) => {
  const { params, body } = request;
  const provider = partyName('dataProvider', params.dataProvider);
  return mutate('refuseRequisition', exchange, call, request, async (tx) => {
    const before = await lockRequisition(tx, provider, params.requisition);
    const change = refuse(before, params.requisition, body, exchange.clock());
    return {
      save: () => saveMeasurements(tx, [{ before, change }], authorOf(call)),
      view: () => viewOwn(change.after, params.requisition),
    };
  });
};
