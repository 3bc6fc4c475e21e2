/** Requisitions as resources of the API. */
import { ExchangeError, type Requisition } from '@measurement-exchange/contract';
import { getRequisitionTombstone } from '../../database/retention.ts';
import type { Aggregate, MeasurementRecord, RequisitionRecord } from '../../domain/aggregate.ts';
import { etagOf } from '../../domain/measurement.ts';
import { certificateName } from '../certificates/view.ts';
import type { Exchange } from '../context.ts';
import { measurementName, viewProtocol } from '../measurements/view.ts';

/** `view` decides the form of the name: each side sees the one it may use. */
export function viewRequisition(
  r: RequisitionRecord,
  m: MeasurementRecord,
  view: 'dataProvider' | 'measurementConsumer',
): Requisition {
  const measurement = measurementName(m);
  return {
    name: `${view === 'dataProvider' ? r.provider : measurement}/requisitions/${r.id}`,
    state: r.state,
    measurement,
    measurementState: m.state,
    measurementConsumerCertificate: certificateName(m.consumer, m.certificate),
    measurementSpec: m.spec,
    dataProvider: r.provider,
    dataProviderCertificate: certificateName(r.provider, r.certificate),
    dataProviderPublicKey: r.publicKey,
    encryptedRequisitionSpec: r.encryptedSpec,
    nonceHash: r.nonceHash,
    nonce: r.fulfillment?.nonce,
    protocolConfig: viewProtocol(m),
    refusal: r.refusal,
    fulfillmentContext: r.fulfillment?.context,
    etag: etagOf(r),
    createTime: r.createTime,
    updateTime: r.updateTime,
  };
}

/** A requisition of a changed measurement, for the provider that changed it. */
export function viewOwn(after: Aggregate, id: string): Requisition {
  const requisition = after.requisitions.find((r) => r.id === id)!;
  return viewRequisition(requisition, after.measurement, 'dataProvider');
}

/** What is left of a requisition whose measurement the retention removed; `name` in the form it was requested in. */
export async function viewTombstone(
  exchange: Exchange,
  name: string,
  by: Parameters<typeof getRequisitionTombstone>[1],
  id: string,
): Promise<Requisition> {
  const tombstone = await getRequisitionTombstone(exchange.db, by, id);
  if (tombstone === undefined) throw requisitionNotFound(name);
  const { state, createTime, updateTime, deleteTime } = tombstone;
  return { name, state, createTime, updateTime, deleteTime };
}

export function requisitionNotFound(name: string): ExchangeError {
  return new ExchangeError('REQUISITION_NOT_FOUND', `${name} does not exist.`, {
    metadata: { requisition: name },
  });
}
