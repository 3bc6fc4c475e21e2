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
  /** A consumer's question as JSON. The SDK encrypts it for the consumer itself. */
  MeasurementQuestion: 'type.googleapis.com/mex.contract.MeasurementQuestion',
} as const;
