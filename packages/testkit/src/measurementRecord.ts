/**
 * Measurement records for tests of domain rules. Only this file lists all fields of a record, so only this file must
 * change when a record gets a new field.
 */
import type {
  NewMeasurement,
  NewRequisition,
} from '@measurement-exchange/exchange/internal/domain/measurement';

const bytes = () => Uint8Array.of(1);

/** A new measurement. `change` contains the fields that the test is about. */
export function measurementRecord(change: Partial<NewMeasurement> = {}): NewMeasurement {
  return {
    id: 'm',
    consumer: 'measurementConsumers/x',
    certificate: 'c',
    spec: { message: bytes(), signature: Uint8Array.of(2) },
    labels: {},
    question: undefined,
    measurementType: 'REACH',
    protocol: 'direct',
    protocolConfig: undefined,
    traceparent: undefined,
    ...change,
  };
}

/** A new requisition `r<provider>` of `dataProviders/<provider>`. */
export function requisitionRecord(provider: string, change: Partial<NewRequisition> = {}): NewRequisition {
  return {
    id: `r${provider}`,
    provider: `dataProviders/${provider}`,
    certificate: 'c',
    publicKey: { '@type': 't', data: bytes() },
    encryptedSpec: { ciphertext: bytes(), typeUrl: 't' },
    nonceHash: new Uint8Array(32),
    ...change,
  };
}
