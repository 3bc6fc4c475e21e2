/** Records as the resources of the contract. */
import type {
  Certificate,
  Finding,
  Measurement,
  ProtocolConfig,
  Requisition,
} from '@measurement-exchange/contract';
import type { CertificateRecord } from '../database/certificates.ts';
import type { MeasurementTombstone, RequisitionTombstone } from '../database/retention.ts';
import {
  type Aggregate,
  etagOf,
  type MeasurementRecord,
  type RequisitionRecord,
} from '../domain/measurement.ts';

export function measurementName(measurement: Pick<MeasurementRecord, 'consumer' | 'id'>): string {
  return `${measurement.consumer}/measurements/${measurement.id}`;
}

export function certificateName(party: string, id: string): string {
  return `${party}/certificates/${id}`;
}

export function viewMeasurement({ measurement: m, requisitions }: Aggregate): Measurement {
  return {
    name: measurementName(m),
    state: m.state,
    measurementConsumerCertificate: certificateName(m.consumer, m.certificate),
    measurementSpec: m.spec,
    dataProviders: Object.fromEntries(
      requisitions.map((r) => [
        r.provider,
        {
          dataProviderCertificate: certificateName(r.provider, r.certificate),
          dataProviderPublicKey: r.publicKey,
          encryptedRequisitionSpec: r.encryptedSpec,
          nonceHash: r.nonceHash,
        },
      ]),
    ),
    measurementReferenceId: m.referenceId,
    protocolConfig: protocolConfig(m),
    createTime: m.createTime,
    updateTime: m.updateTime,
    results:
      m.state === 'SUCCEEDED'
        ? requisitions.map((r) => ({
            certificate: certificateName(r.provider, r.fulfillment!.certificate),
            encryptedResult: r.fulfillment!.encryptedResult,
          }))
        : undefined,
    failure: m.failure,
  };
}

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
    protocolConfig: protocolConfig(m),
    refusal: r.refusal,
    fulfillmentContext: r.fulfillment?.context,
    etag: etagOf(r),
    createTime: r.createTime,
    updateTime: r.updateTime,
  };
}

function protocolConfig(m: MeasurementRecord): ProtocolConfig {
  return { measurementType: m.measurementType, [m.protocol]: {} };
}

export function viewTombstone({ id, consumer, ...left }: MeasurementTombstone): Measurement {
  return { name: measurementName({ consumer, id }), ...left };
}

/** `name` in the form of the view it was asked for in. */
export function viewRequisitionTombstone(name: string, t: RequisitionTombstone): Requisition {
  const { state, createTime, updateTime, deleteTime } = t;
  return { name, state, createTime, updateTime, deleteTime };
}

export function viewCertificate(c: CertificateRecord): Certificate {
  return {
    name: certificateName(c.party, c.id),
    x509Der: c.x509Der,
    subjectKeyIdentifier: c.subjectKeyIdentifier,
    revocationState: c.revocationState,
    notBefore: c.notBefore,
    notAfter: c.notAfter,
  };
}

/** What `validateOnly` can be answered with. */
export interface Validated {
  name?: string;
  findings?: Finding[];
}

/** The answer to `validateOnly`: the resource as it would be, without what only a write gives it. */
export function asValidated<T extends Validated>(resource: T, findings: Finding[]): T {
  return {
    ...resource,
    name: undefined,
    etag: undefined,
    createTime: undefined,
    updateTime: undefined,
    findings,
  };
}
