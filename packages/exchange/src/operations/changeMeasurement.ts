/** The frame of every change to an existing measurement: lock the parent, decide purely, save the difference. */
import type { Timestamp } from '@measurement-exchange/contract';
import type { Transaction } from '../database/db.ts';
import { saveMeasurement } from '../database/writeMeasurements.ts';
import type { Aggregate, Change } from '../domain/measurement.ts';
import { author, type Call, type Exchange } from './context.ts';
import { asValidated, type Validated } from './views.ts';

export async function changeMeasurement<L extends { aggregate: Aggregate }, Resource extends Validated>(
  x: Exchange,
  call: Call,
  how: {
    name: string;
    validateOnly: boolean;
    /** Locks the measurement and reads what the decision needs; throws where it does not exist. */
    load: (tx: Transaction) => Promise<L>;
    decide: (loaded: L, now: Timestamp) => Change;
    view: (after: Aggregate) => Resource;
  },
): Promise<Resource> {
  return x.db.tx(how.name, async (tx) => {
    const loaded = await how.load(tx);
    const change = how.decide(loaded, x.clock());
    if (how.validateOnly) {
      tx.rollback();
      return asValidated(how.view(change.after), call.findings);
    }
    saveMeasurement(tx, loaded.aggregate, change, author(call));
    tx.commit();
    return call.answer(how.view(change.after));
  });
}
