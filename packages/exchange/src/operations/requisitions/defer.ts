import { earlierDeferrals, saveDeferral } from '../../database/deferrals.ts';
import { saveMeasurements } from '../../database/writeMeasurements.ts';
import { partyName } from '../../domain/access.ts';
import { defer } from '../../domain/measurement.ts';
import { authorOf, type Handler } from '../context.ts';
import { mutate } from '../mutate.ts';
import { lockRequisition } from './lock.ts';
import { viewOwn } from './view.ts';

export const deferRequisition: Handler<'deferRequisition'> = async (exchange, call, request) => {
  const { params, body } = request;
  const provider = partyName('dataProvider', params.dataProvider);
  return mutate('deferRequisition', exchange, call, request, async (tx) => {
    const before = await lockRequisition(tx, provider, params.requisition);
    const now = exchange.clock();
    const earlier = await earlierDeferrals(tx, params.requisition);
    const change = defer(before, params.requisition, body, earlier, now);
    const view = () => viewOwn(change.after, params.requisition);
    // The provider repeated its last deferral, so nothing changes.
    if (change.after === before) return { view };
    const save = () => {
      if (change.steps.length > 0) saveMeasurements(tx, [{ before, change }], authorOf(call));
      saveDeferral(tx, params.requisition, body, now);
    };
    return { save, view };
  });
};
