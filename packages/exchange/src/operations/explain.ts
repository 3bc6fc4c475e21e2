import { circumstancesOf, explainedAggregate } from '../database/explanations.ts';
import { getRequisitionTombstone, getTombstones } from '../database/retention.ts';
import { partyName } from '../domain/access.ts';
import type { Facts, Viewer } from '../domain/explain/facts.ts';
import {
  explainMeasurement as explain,
  explainRequisition as explainOwn,
  explainRemoved,
} from '../domain/explain/index.ts';
import { computationNotFound } from './computations/view.ts';
import type { Exchange, Handler } from './context.ts';
import { measurementNotFound } from './measurements/get.ts';
import { requisitionNotFound } from './requisitions/view.ts';

export const explainMeasurement: Handler<'explainMeasurement'> = async (exchange, _call, { params }) => {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const facts = await factsOf(exchange, 'measurementConsumer', consumer, params.measurement);
  if (facts !== undefined) return explain(facts);
  const tombstone = (await getTombstones(exchange.db, consumer, [params.measurement])).get(
    params.measurement,
  );
  if (tombstone === undefined) throw measurementNotFound(consumer, params.measurement);
  return explainRemoved(tombstone);
};

export const explainRequisition: Handler<'explainRequisition'> = async (
  exchange,
  _call,
  { params, path },
) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const facts = await factsOf(exchange, 'dataProvider', provider, params.requisition);
  if (facts !== undefined) return explainOwn(facts);
  const tombstone = await getRequisitionTombstone(exchange.db, { provider }, params.requisition);
  if (tombstone === undefined) throw requisitionNotFound(path);
  return explainRemoved(tombstone);
};

export const explainComputation: Handler<'explainComputation'> = async (
  exchange,
  _call,
  { params, path },
) => {
  const duchy = partyName('duchy', params.duchy);
  const facts = await factsOf(exchange, 'duchy', duchy, params.computation);
  if (facts === undefined) throw computationNotFound(path);
  return explain(facts);
};

async function factsOf(
  { db, clock, deadlines, lastSeen }: Exchange,
  viewer: Viewer,
  party: string,
  id: string,
): Promise<Facts | undefined> {
  const found = await explainedAggregate(db, viewer, party, id);
  if (found === undefined) return undefined;
  const around = await circumstancesOf(db, found.aggregate, (name, stored) => lastSeen.latest(name, stored));
  return { viewer, ...found, ...around, deadlines, now: clock() };
}
