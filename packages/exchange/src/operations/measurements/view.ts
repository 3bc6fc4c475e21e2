/** Measurements as resources of the API. */
import { fromBase64, type Measurement, type ProtocolConfig } from '@measurement-exchange/contract';
import type { MeasurementTombstone } from '../../database/retention.ts';
import type { Aggregate, MeasurementRecord } from '../../domain/aggregate.ts';
import { certificateName } from '../certificates/view.ts';

export function measurementName(measurement: Pick<MeasurementRecord, 'consumer' | 'id'>): string {
  return `${measurement.consumer}/measurements/${measurement.id}`;
}

export function viewMeasurement({ measurement: m, requisitions }: Aggregate): Measurement {
  return {
    ...m.labels,
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
    protocolConfig: viewProtocol(m),
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

export function viewProtocol(m: MeasurementRecord): ProtocolConfig {
  const { measurementType, protocol, protocolConfig: config } = m;
  if (config === undefined) return { measurementType, [protocol]: {} };
  const populationFingerprint = fromBase64(config.populationFingerprint)!;
  return { measurementType, [protocol]: { ...config, populationFingerprint } };
}

export function viewTombstone({ id, consumer, ...left }: MeasurementTombstone): Measurement {
  return { name: measurementName({ consumer, id }), ...left };
}
