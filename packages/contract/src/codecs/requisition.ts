import * as s from '../json/schema.ts';
import { ProtocolConfig } from '../protocols/protocolConfig.ts';
import { MEASUREMENT_STATES, REFUSAL_JUSTIFICATIONS, REQUISITION_STATES } from '../values/states.ts';
import {
  EncryptedMessage,
  EncryptedRequisitionSpec,
  EncryptionPublicKey,
  Finding,
  SignedMessage,
  Traceparent,
} from './common.ts';

export const Refusal = s.object({
  justification: s.enumOf(REFUSAL_JUSTIFICATIONS),
  message: s.optional(s.text(2000)),
});
export type Refusal = s.Static<typeof Refusal>;

/** The provider's reason for delaying a requisition, and the time until which it is delayed. */
export const Deferral = s.object({ reason: s.text(1000, 1), until: s.timestamp() });
export type Deferral = s.Static<typeof Deferral>;

export const FulfillmentContext = s.object({
  buildLabel: s.optional(s.text(255)),
  warnings: s.optional(s.array(s.text(1000), { maxItems: 100 })),
});
export type FulfillmentContext = s.Static<typeof FulfillmentContext>;

const elGamalKey = s.object({ elGamalPublicKey: SignedMessage });

const DuchyEntry = s.object({
  duchyCertificate: s.nameOf('duchyCertificate'),
  liquidLegionsV2: s.optional(elGamalKey),
  reachOnlyLiquidLegionsV2: s.optional(elGamalKey),
  honestMajorityShareShuffle: s.optional(
    s.object({
      publicKey: s.optional(
        SignedMessage,
        'Both workers have a key. The share is encrypted for the worker that receives the upload, and the seed of the other share for the other worker.',
      ),
    }),
  ),
});
export type DuchyEntry = s.Static<typeof DuchyEntry>;

/** A requisition. After the retention job has removed its content, only the name, state, and times remain. */
export const Requisition = s.object({
  name: s.optional(s.nameOf('requisition', 'measurementRequisition')),
  state: s.enumOf(REQUISITION_STATES),
  ...s.partial({
    measurement: s.nameOf('measurement'),
    measurementState: s.enumOf(MEASUREMENT_STATES),
    measurementConsumerCertificate: s.nameOf('measurementConsumerCertificate'),
    measurementSpec: SignedMessage,
    dataProvider: s.nameOf('dataProvider'),
    dataProviderCertificate: s.nameOf('dataProviderCertificate'),
    dataProviderPublicKey: EncryptionPublicKey,
    encryptedRequisitionSpec: EncryptedRequisitionSpec,
    nonceHash: s.sha256(),
    nonce: s.uint64(),
    protocolConfig: ProtocolConfig,
    duchies: s.mapOf('duchy', DuchyEntry),
    fulfillingDuchy: s.nameOf('duchy'),
    refusal: Refusal,
    deferral: Deferral,
    fulfillmentContext: FulfillmentContext,
    traceparent: Traceparent,
    etag: s.text(100),
    createTime: s.timestamp(),
    updateTime: s.timestamp(),
    deleteTime: s.timestamp(),
    findings: s.array(Finding),
  }),
});
export type Requisition = s.Static<typeof Requisition>;

export const FulfillDirectRequest = s.object({
  encryptedResult: EncryptedMessage,
  nonce: s.uint64(),
  certificate: s.nameOf('dataProviderCertificate'),
  etag: s.text(100, 1),
  fulfillmentContext: s.optional(FulfillmentContext),
});

export const RefuseRequest = s.object({ refusal: Refusal, etag: s.text(100, 1) });
