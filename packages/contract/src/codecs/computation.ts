import {
  FAILURE_CODES,
  type FailureCode,
  PROGRESS_CODES,
  type ProgressCode,
} from '../errors/computationCodes.ts';
import {
  array,
  enumOf,
  integer,
  mapOf,
  nameOf,
  number,
  object,
  optional,
  type Static,
  sha256,
  text,
  timestamp,
  uint64,
} from '../json/schema.ts';
import { ProtocolConfig } from '../protocols/protocolConfig.ts';
import { COMPUTATION_STATES, DUCHY_ROLES, FAILURE_REASONS, REQUISITION_STATES } from '../values/states.ts';
import { EncryptedMessage, Finding, SignedMessage, Traceparent } from './common.ts';
import { FulfillmentContext } from './requisition.ts';

const legionsKeys = object(
  { publicKey: SignedMessage, elGamalPublicKey: SignedMessage },
  'Of every duchy: an EncryptionPublicKey and an ElGamalPublicKey, made for this computation, each signed by the duchy.',
);

/** What one duchy contributes before requisitions can be fulfilled; in share-shuffle the aggregator's is empty. */
const parameters = {
  honestMajorityShareShuffle: optional(
    object({
      publicKey: optional(
        SignedMessage,
        'An EncryptionPublicKey, made for this computation, signed by the duchy.',
      ),
    }),
  ),
  liquidLegionsV2: optional(legionsKeys),
  reachOnlyLiquidLegionsV2: optional(legionsKeys),
};

export const PARTICIPANT_STATES = ['CREATED', 'PARAMS_SET', 'READY', 'FAILED'] as const;
export type ParticipantState = (typeof PARTICIPANT_STATES)[number];

export const Participant = object({
  role: enumOf(DUCHY_ROLES),
  state: enumOf(PARTICIPANT_STATES),
  certificate: optional(nameOf('duchyCertificate')),
  parameters: optional(object(parameters)),
});
export type Participant = Static<typeof Participant>;

export const ComputationRequisition = object({
  name: nameOf('requisition'),
  dataProvider: nameOf('dataProvider'),
  dataProviderCertificate: nameOf('dataProviderCertificate'),
  requisitionSpecHash: sha256(),
  nonceHash: sha256(),
  nonce: optional(uint64(), 'Once the requisition is fulfilled.'),
  state: enumOf(REQUISITION_STATES),
  fulfillingDuchy: nameOf('duchy'),
});
export type ComputationRequisition = Static<typeof ComputationRequisition>;

/** A duchy's view of a measurement; all participants know it under the same ID. */
export const Computation = object({
  name: optional(nameOf('computation')),
  role: enumOf(DUCHY_ROLES),
  state: enumOf(COMPUTATION_STATES),
  measurementConsumer: nameOf('measurementConsumer'),
  measurementSpec: SignedMessage,
  measurementConsumerCertificate: nameOf('measurementConsumerCertificate'),
  protocolConfig: ProtocolConfig,
  participants: mapOf('duchy', Participant),
  requisitions: array(ComputationRequisition),
  failure: optional(object({ reason: enumOf(FAILURE_REASONS), message: text(4000) })),
  traceparent: optional(Traceparent),
  etag: optional(text(100)),
  createTime: optional(timestamp()),
  updateTime: optional(timestamp()),
  findings: optional(array(Finding)),
});
export type Computation = Static<typeof Computation>;

const etag = text(100, 1);

export const SetParametersRequest = object({ etag, certificate: nameOf('duchyCertificate'), ...parameters });
export type SetParametersRequest = Static<typeof SetParametersRequest>;

export const ConfirmRequest = object({ etag });

export const FulfillComputationRequisitionRequest = object({
  etag,
  requisition: nameOf('requisition'),
  nonce: uint64(),
  fulfillmentContext: optional(FulfillmentContext),
});
export type FulfillComputationRequisitionRequest = Static<typeof FulfillComputationRequisitionRequest>;

export const SetResultRequest = object({
  etag,
  certificate: nameOf('duchyCertificate'),
  encryptedResult: EncryptedMessage,
});
export type SetResultRequest = Static<typeof SetResultRequest>;

const Position = object(
  {
    field: optional(text(200, 1)),
    stage: optional(text(64, 1), 'A stage of the duchy, or a message between duchies.'),
    requisition: optional(nameOf('requisition')),
    dataProvider: optional(nameOf('dataProvider')),
    duchy: optional(nameOf('duchy')),
  },
  'Where the fault is: the requisition, the provider and the duchy are ones of the computation.',
);

export const FailRequest = object({
  etag,
  code: enumOf(Object.keys(FAILURE_CODES) as FailureCode[]),
  position: optional(Position),
});
export type FailRequest = Static<typeof FailRequest>;

export const LogRequest = object({
  stage: text(64, 1),
  attempt: integer(1, 1_000_000),
  code: enumOf(Object.keys(PROGRESS_CODES) as ProgressCode[]),
  position: optional(Position),
  progress: optional(number(), 'From 0 to 1, of the stage.'),
});
export type LogRequest = Static<typeof LogRequest>;
