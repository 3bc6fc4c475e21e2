/** Requisitions as resources of the API. */
import {
  type DuchyEntry,
  ExchangeError,
  type Protocol,
  type Requisition,
} from '@measurement-exchange/contract';
import type { AggregateOfRequisition } from '../../database/measurements.ts';
import type { RequisitionWithMeasurement } from '../../database/requisitions.ts';
import { getRequisitionTombstone } from '../../database/retention.ts';
import type { ParticipantRecord } from '../../domain/aggregate.ts';
import { etagOf } from '../../domain/measurement.ts';
import { areParametersSet } from '../../domain/participants.ts';
import { viewProtocol } from '../../domain/protocolConfig.ts';
import { certificateName } from '../certificates/view.ts';
import type { Exchange } from '../context.ts';
import { measurementName } from '../measurements/view.ts';

/** `view` decides the form of the name: each side sees the one it may use. */
export function viewRequisition(
  { requisition: r, measurement: m, participants }: RequisitionWithMeasurement,
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
    duchies: viewDuchies(m.protocol, participants),
    fulfillingDuchy: r.fulfillingDuchy,
    refusal: r.refusal,
    deferral: r.deferral,
    fulfillmentContext: r.fulfillment?.context,
    traceparent: m.traceparent,
    etag: etagOf(r),
    createTime: r.createTime,
    updateTime: r.updateTime,
  };
}

/** All at once: a requisition that does not show duchies yet cannot be fulfilled yet. */
function viewDuchies(
  protocol: Protocol,
  participants: ParticipantRecord[],
): Record<string, DuchyEntry> | undefined {
  if (participants.length === 0 || !areParametersSet({ participants })) return undefined;
  const isShuffle = protocol === 'honestMajorityShareShuffle';
  // In share-shuffle the aggregator gets nothing from providers; elsewhere they encrypt for all duchies together.
  const shown = participants.filter((p) => !isShuffle || p.role !== 'AGGREGATOR');
  return Object.fromEntries(
    shown.map(({ duchy, parameters }) => {
      const { certificate, publicKey, elGamalPublicKey } = parameters!;
      return [
        duchy,
        {
          duchyCertificate: certificateName(duchy, certificate),
          // In share-shuffle the share is encrypted for one worker, and a seed for the other one.
          [protocol]: isShuffle ? { publicKey } : { elGamalPublicKey },
        },
      ];
    }),
  );
}

/** A requisition of a changed measurement, for the provider that changed it. */
export function viewOwn({ requisitions, ...rest }: AggregateOfRequisition, id: string): Requisition {
  const { content, ...outline } = requisitions.find((r) => r.id === id)!;
  return viewRequisition({ requisition: { ...outline, ...content! }, ...rest }, 'dataProvider');
}

/** The tombstone of a requisition whose measurement retention removed; `name` is the requested name. */
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
