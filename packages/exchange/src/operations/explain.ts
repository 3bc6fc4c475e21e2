/** Explanations, each in the view of the one that asks. */
import type { Explanation, RequestOf } from '@measurement-exchange/contract';
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
import type { Call, Exchange } from './context.ts';
import { measurementNotFound } from './measurements/get.ts';
import { requisitionNotFound } from './requisitions/view.ts';

type Store = Pick<Exchange, 'db' | 'clock' | 'deadlines' | 'lastSeen'>;

export async function explainMeasurement(
  exchange: Store,
  _call: Call,
  { params }: RequestOf<'explainMeasurement'>,
): Promise<Explanation> {
  const consumer = partyName('measurementConsumer', params.measurementConsumer);
  const facts = await factsOf(exchange, 'measurementConsumer', consumer, params.measurement);
  if (facts !== undefined) return explain(facts);
  const tombstone = (await getTombstones(exchange.db, consumer, [params.measurement])).get(
    params.measurement,
  );
  if (tombstone === undefined) throw measurementNotFound(consumer, params.measurement);
  return explainRemoved(tombstone);
}

export async function explainRequisition(
  exchange: Store,
  _call: Call,
  { params, path }: RequestOf<'explainRequisition'>,
): Promise<Explanation> {
  const provider = partyName('dataProvider', params.dataProvider);
  const facts = await factsOf(exchange, 'dataProvider', provider, params.requisition);
  if (facts !== undefined) return explainOwn(facts);
  const tombstone = await getRequisitionTombstone(exchange.db, { provider }, params.requisition);
  if (tombstone === undefined) throw requisitionNotFound(path);
  return explainRemoved(tombstone);
}

export async function explainComputation(
  exchange: Store,
  _call: Call,
  { params, path }: RequestOf<'explainComputation'>,
): Promise<Explanation> {
  const duchy = partyName('duchy', params.duchy);
  const facts = await factsOf(exchange, 'duchy', duchy, params.computation);
  if (facts === undefined) throw computationNotFound(path);
  return explain(facts);
}

async function factsOf(
  { db, clock, deadlines, lastSeen }: Store,
  viewer: Viewer,
  party: string,
  id: string,
): Promise<Facts | undefined> {
  const found = await explainedAggregate(db, viewer, party, id);
  if (found === undefined) return undefined;
  const around = await circumstancesOf(db, found.aggregate, (name, stored) => lastSeen.latest(name, stored));
  return { viewer, ...found, ...around, deadlines, now: clock() };
}
