/** Type URLs of the messages that are sent signed or encrypted. */
const PREFIX = 'type.googleapis.com/wfa.measurement.api.v2alpha.';

export const TYPE_URLS = {
  RequisitionSpec: `${PREFIX}RequisitionSpec`,
  MeasurementSpec: `${PREFIX}MeasurementSpec`,
  MeasurementResult: `${PREFIX}Measurement.Result`,
  SignedMessage: `${PREFIX}SignedMessage`,
  EventGroupMetadata: `${PREFIX}EventGroup.Metadata`,
  EncryptionPublicKey: `${PREFIX}EncryptionPublicKey`,
  RandomSeed: `${PREFIX}RandomSeed`,
} as const;
