import {
  array,
  enumOf,
  mapOf,
  nameOf,
  object,
  optional,
  partial,
  type Static,
  sha256,
  text,
  timestamp,
} from '../json/schema.ts';
import { ProtocolConfig, ProtocolWish } from '../protocols/protocolConfig.ts';
import { FAILURE_REASONS, MEASUREMENT_STATES } from '../values/states.ts';
import {
  certificateName,
  EncryptedMessage,
  EncryptedRequisitionSpec,
  EncryptionPublicKey,
  Finding,
  SignedMessage,
} from './common.ts';

export const DataProviderEntry = object({
  dataProviderCertificate: nameOf('dataProviderCertificate'),
  dataProviderPublicKey: EncryptionPublicKey,
  encryptedRequisitionSpec: EncryptedRequisitionSpec,
  nonceHash: sha256(),
});
export type DataProviderEntry = Static<typeof DataProviderEntry>;

const input = {
  measurementConsumerCertificate: nameOf('measurementConsumerCertificate'),
  measurementSpec: SignedMessage,
  dataProviders: mapOf('dataProvider', DataProviderEntry, 1),
  measurementReferenceId: optional(text(255)),
  protocolConfig: optional(ProtocolWish),
};

/** What a consumer sends to create a measurement. */
export const MeasurementInput = object(input);
export type MeasurementInput = Static<typeof MeasurementInput>;

/** Of a measurement that the retention removed, only name, state and times are left. */
export const Measurement = object({
  name: optional(nameOf('measurement')),
  state: enumOf(MEASUREMENT_STATES),
  ...partial(input),
  protocolConfig: optional(ProtocolConfig),
  createTime: optional(timestamp()),
  updateTime: optional(timestamp()),
  deleteTime: optional(timestamp()),
  results: optional(array(object({ certificate: certificateName, encryptedResult: EncryptedMessage }))),
  failure: optional(object({ reason: enumOf(FAILURE_REASONS), message: text(4000) })),
  findings: optional(array(Finding)),
});
export type Measurement = Static<typeof Measurement>;
