/** Type URLs of the messages that are sent signed or encrypted. */
const PREFIX = 'type.googleapis.com/wfa.measurement.api.v2alpha.';

export const TYPE_URLS = {
  RequisitionSpec: `${PREFIX}RequisitionSpec`,
  MeasurementSpec: `${PREFIX}MeasurementSpec`,
  MeasurementResult: `${PREFIX}Measurement.Result`,
  SignedMessage: `${PREFIX}SignedMessage`,
  EventGroupMetadata: `${PREFIX}EventGroup.Metadata`,
  EncryptionPublicKey: `${PREFIX}EncryptionPublicKey`,
  ElGamalPublicKey: `${PREFIX}ElGamalPublicKey`,
  RandomSeed: `${PREFIX}RandomSeed`,
  /**
   * The request from which the SDK created a measurement, as JSON. The SDK encrypts it so that only the consumer can
   * read it.
   */
  MeasurementQuestion: 'type.googleapis.com/mex.contract.MeasurementQuestion',
  /**
   * A report's definition, and its answer (the computed figures). Both are JSON, and are encrypted in the same way as a
   * MeasurementQuestion.
   */
  ReportDefinition: 'type.googleapis.com/mex.contract.ReportDefinition',
  ReportAnswer: 'type.googleapis.com/mex.contract.ReportAnswer',
} as const;
