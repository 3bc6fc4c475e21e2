import { circumstancesOf, type Explained, explainedAggregate } from '../database/explanations.ts';
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
  exchange: Exchange,
  viewer: Viewer,
  party: string,
  id: string,
): Promise<Facts | undefined> {
  const found = await explainedAggregate(exchange.db, viewer, party, id);
  return found && (await factsOfAll(exchange, viewer, [found]))[0];
}

export async function factsOfAll(
  { db, clock, deadlines, lastSeen }: Exchange,
  viewer: Viewer,
  found: Explained[],
): Promise<Facts[]> {
  const aggregates = found.map(({ aggregate }) => aggregate);
  const { reports, ...around } = await circumstancesOf(db, aggregates, (name, stored) =>
    lastSeen.latest(name, stored),
  );
  const now = clock();
  const byComputation = Map.groupBy(reports, ({ computation }) => computation);
  return found.map(({ aggregate, cause }) => ({
    ...{ viewer, aggregate, cause, ...around, deadlines, now },
    reports: byComputation.get(aggregate.measurement.id) ?? [],
  }));
}
