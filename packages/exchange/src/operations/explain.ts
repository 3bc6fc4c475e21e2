import { circumstancesOf, explainedAggregate } from '../database/explanations.ts';
import { getRequisitionTombstone, getTombstones } from '../database/retention.ts';
import { partyName } from '../domain/access.ts';
import type { Facts, Viewer } from '../domain/explain/facts.ts';
import {
  explainMeasurement as explain,
  explainRequisition as explainOwn,
  explainRemoved,
} from '../domain/explain/index.ts';
import { requireFound } from '../domain/found.ts';
import type { Exchange, Handler } from './context.ts';

export const explainMeasurement: Handler<'explainMeasurement'> = async (exchange, _, { params, path }) => {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const { measurement: id } = params;
  const facts = await factsOf(exchange, 'measurementConsumer', consumer, id);
  if (facts !== undefined) return explain(facts);
  const tombstone = (await getTombstones(exchange.db, consumer, [id])).get(id);
  return explainRemoved(requireFound(tombstone, 'MEASUREMENT_NOT_FOUND', path));
};

export const explainRequisition: Handler<'explainRequisition'> = async (exchange, _, { params, path }) => {
  const provider = partyName('dataProvider', params.dataProvider);
  const facts = await factsOf(exchange, 'dataProvider', provider, params.requisition);
  if (facts !== undefined) return explainOwn(facts);
  const tombstone = await getRequisitionTombstone(exchange.db, { provider }, params.requisition);
  return explainRemoved(requireFound(tombstone, 'REQUISITION_NOT_FOUND', path));
};

export const explainComputation: Handler<'explainComputation'> = async (exchange, _, { params, path }) => {
  const duchy = partyName('duchy', params.duchy);
  const facts = await factsOf(exchange, 'duchy', duchy, params.computation);
  return explain(requireFound(facts, 'COMPUTATION_NOT_FOUND', path));
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
