import {
  FAILURE_CODES,
  type FailureCode,
  PROGRESS_CODES,
  type ProgressCode,
} from '../errors/computationCodes.ts';
import * as s from '../json/schema.ts';
import { ProtocolConfig } from '../protocols/protocolConfig.ts';
import { COMPUTATION_STATES, DUCHY_ROLES, FAILURE_REASONS, REQUISITION_STATES } from '../values/states.ts';
import { EncryptedMessage, SignedMessage, Traceparent, written } from './common.ts';
import { FulfillmentContext } from './requisition.ts';

const legionsKeys = s.object(
  { publicKey: SignedMessage, elGamalPublicKey: SignedMessage },
  'An EncryptionPublicKey and an ElGamalPublicKey, which the duchy made for this computation and signed.',
);

/**
 * The keys that each duchy publishes before data providers can fulfill requisitions. In the share shuffle protocol, the
 * aggregator's key is optional.
 */
const parameters = {
  honestMajorityShareShuffle: s.optional(
    s.object({
      publicKey: s.optional(
        SignedMessage,
        'An EncryptionPublicKey, which the duchy made for this computation and signed.',
      ),
    }),
  ),
  liquidLegionsV2: s.optional(legionsKeys),
  reachOnlyLiquidLegionsV2: s.optional(legionsKeys),
};

export const PARTICIPANT_STATES = ['CREATED', 'PARAMS_SET', 'READY', 'FAILED'] as const;
export type ParticipantState = (typeof PARTICIPANT_STATES)[number];

export const Participant = s.object({
  role: s.enumOf(DUCHY_ROLES),
  state: s.enumOf(PARTICIPANT_STATES),
  certificate: s.optional(s.nameOf('duchyCertificate')),
  parameters: s.optional(s.object(parameters)),
});
export type Participant = s.Static<typeof Participant>;

export const ComputationRequisition = s.object({
  name: s.nameOf('requisition'),
  dataProvider: s.nameOf('dataProvider'),
  dataProviderCertificate: s.nameOf('dataProviderCertificate'),
  requisitionSpecHash: s.sha256(),
  nonceHash: s.sha256(),
  nonce: s.optional(s.uint64(), 'Set once the requisition is fulfilled.'),
  state: s.enumOf(REQUISITION_STATES),
  fulfillingDuchy: s.nameOf('duchy'),
});
export type ComputationRequisition = s.Static<typeof ComputationRequisition>;

/** A duchy's view of a measurement. All duchies of the measurement see the computation under the same ID. */
export const Computation = s.object({
  name: s.optional(s.nameOf('computation')),
  role: s.enumOf(DUCHY_ROLES),
  state: s.enumOf(COMPUTATION_STATES),
  measurementConsumer: s.nameOf('measurementConsumer'),
  measurementSpec: SignedMessage,
  measurementConsumerCertificate: s.nameOf('measurementConsumerCertificate'),
  protocolConfig: ProtocolConfig,
  participants: s.mapOf('duchy', Participant),
  requisitions: s.array(ComputationRequisition),
  failure: s.optional(s.object({ reason: s.enumOf(FAILURE_REASONS), message: s.text(4000) })),
  traceparent: s.optional(Traceparent),
  etag: s.optional(s.text(100)),
  ...written,
});
export type Computation = s.Static<typeof Computation>;

const etag = s.text(100, 1);

export const SetParametersRequest = s.object({
  etag,
  certificate: s.nameOf('duchyCertificate'),
  ...parameters,
});
export type SetParametersRequest = s.Static<typeof SetParametersRequest>;

export const ConfirmRequest = s.object({ etag });

export const FulfillComputationRequisitionRequest = s.object({
  etag,
  requisition: s.nameOf('requisition'),
  nonce: s.uint64(),
  fulfillmentContext: s.optional(FulfillmentContext),
});

export const SetResultRequest = s.object({
  etag,
  certificate: s.nameOf('duchyCertificate'),
  encryptedResult: EncryptedMessage,
});

const Position = s.object(
  {
    field: s.optional(s.text(200, 1)),
    stage: s.optional(s.text(64, 1), 'A stage of the duchy, or a message between duchies.'),
    requisition: s.optional(s.nameOf('requisition')),
    dataProvider: s.optional(s.nameOf('dataProvider')),
    duchy: s.optional(s.nameOf('duchy')),
  },
  'The place of the fault. The requisition, the provider and the duchy must belong to the computation.',
);

export const FailRequest = s.object({
  etag,
  code: s.enumOf(Object.keys(FAILURE_CODES) as FailureCode[]),
  position: s.optional(Position),
});
export type FailRequest = s.Static<typeof FailRequest>;

export const LogRequest = s.object({
  stage: s.text(64, 1),
  attempt: s.integer(1, 1_000_000),
  code: s.enumOf(Object.keys(PROGRESS_CODES) as ProgressCode[]),
  position: s.optional(Position),
  progress: s.optional(s.number(), 'The part of the stage that is done, from 0 to 1.'),
});
export type LogRequest = s.Static<typeof LogRequest>;
