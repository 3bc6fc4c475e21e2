import type { DuchyEntry, Protocol, Requisition } from '@measurement-exchange/contract';
import type { AggregateOfRequisition } from '../../database/measurements.ts';
import type { RequisitionWithMeasurement } from '../../database/requisitions.ts';
import { getRequisitionTombstone } from '../../database/retention.ts';
import { measurementName, type ParticipantRecord } from '../../domain/aggregate.ts';
import { certificateName } from '../../domain/certificate.ts';
import { requireFound } from '../../domain/found.ts';
import { etagOf } from '../../domain/measurement.ts';
import { areParametersSet } from '../../domain/participants.ts';
import { viewProtocol } from '../../domain/protocolConfig.ts';
import type { Exchange } from '../context.ts';

/**
 * Converts a requisition to an API resource. `view` is the kind of party that reads the resource. The provider and the
 * consumer use different names for a requisition.
 */
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

/**
 * Returns the duchies' keys. Returns undefined if the measurement has no duchies, or if a duchy has not set its
 * parameters yet. In the second case, the requisition cannot be fulfilled yet.
 */
function viewDuchies(
  protocol: Protocol,
  participants: ParticipantRecord[],
): Record<string, DuchyEntry> | undefined {
  if (participants.length === 0 || !areParametersSet({ participants })) return undefined;
  const isShuffle = protocol === 'honestMajorityShareShuffle';
  // In share-shuffle, providers encrypt only for the workers. In Liquid Legions, they encrypt for all duchies together.
  const shown = participants.filter((p) => !isShuffle || p.role !== 'AGGREGATOR');
  return Object.fromEntries(
    shown.map(({ duchy, parameters }) => {
      const { certificate, publicKey, elGamalPublicKey } = parameters!;
      return [
        duchy,
        {
          duchyCertificate: certificateName(duchy, certificate),
          // In share-shuffle, a provider needs the workers' public keys, because it encrypts a share for one worker and
          // a seed for the other worker.
          [protocol]: isShuffle ? { publicKey } : { elGamalPublicKey },
        },
      ];
    }),
  );
}

export function viewOwn({ requisitions, ...rest }: AggregateOfRequisition, id: string): Requisition {
  const { content, ...outline } = requisitions.find((r) => r.id === id)!;
  return viewRequisition({ requisition: { ...outline, ...content! }, ...rest }, 'dataProvider');
}

export async function viewTombstone(
  exchange: Exchange,
  name: string,
  by: Parameters<typeof getRequisitionTombstone>[1],
  id: string,
): Promise<Requisition> {
  const tombstone = await getRequisitionTombstone(exchange.db, by, id);
  const { id: _, ...left } = requireFound(tombstone, 'REQUISITION_NOT_FOUND', name);
  return { name, ...left };
}
