import * as s from '../json/schema.ts';
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

export const DataProviderEntry = s.object({
  dataProviderCertificate: s.nameOf('dataProviderCertificate'),
  dataProviderPublicKey: EncryptionPublicKey,
  encryptedRequisitionSpec: EncryptedRequisitionSpec,
  nonceHash: s.sha256(),
});
export type DataProviderEntry = s.Static<typeof DataProviderEntry>;

export const MAX_QUESTION_BYTES = 64 * 1024;

/**
 * The consumer's question, which only the consumer can decrypt. The exchange returns the question to this consumer
 * only.
 */
export const EncryptedQuestion = s.object(
  { ciphertext: s.bytes({ min: 1, max: MAX_QUESTION_BYTES }), typeUrl: s.text(512, 1) },
  'The question as the measurement consumer asked it, signed by it and encrypted for its own result key.',
);

const input = {
  measurementConsumerCertificate: s.nameOf('measurementConsumerCertificate'),
  measurementSpec: SignedMessage,
  dataProviders: s.mapOf('dataProvider', DataProviderEntry, 1),
  measurementReferenceId: s.optional(s.text(255)),
  encryptedQuestion: s.optional(EncryptedQuestion),
  protocolConfig: s.optional(ProtocolWish),
};

export const MeasurementInput = s.object(input);
export type MeasurementInput = s.Static<typeof MeasurementInput>;

const outputOnly = [
  ...['name', 'state', 'createTime', 'updateTime', 'deleteTime', 'results', 'failure', 'findings'],
];
/** One create request in a batch. If `parent` is set, it must equal the parent in the path. */
export const MeasurementCreation = s.object({
  parent: s.optional(s.nameOf('measurementConsumer')),
  measurement: s.object(input, undefined, outputOnly),
  requestId: s.optional(s.text(255, 1)),
});

/** A measurement. Once the retention job has removed its content, a response has only the name, state, and times. */
export const Measurement = s.object({
  name: s.optional(s.nameOf('measurement')),
  state: s.enumOf(MEASUREMENT_STATES),
  ...s.partial(input),
  protocolConfig: s.optional(ProtocolConfig),
  createTime: s.optional(s.timestamp()),
  updateTime: s.optional(s.timestamp()),
  deleteTime: s.optional(s.timestamp()),
  results: s.optional(s.array(s.object({ certificate: certificateName, encryptedResult: EncryptedMessage }))),
  failure: s.optional(s.object({ reason: s.enumOf(FAILURE_REASONS), message: s.text(4000) })),
  findings: s.optional(s.array(Finding)),
});
export type Measurement = s.Static<typeof Measurement>;
