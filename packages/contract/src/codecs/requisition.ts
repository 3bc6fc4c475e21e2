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
  uint64,
} from '../json/schema.ts';
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

export const Refusal = object({
  justification: enumOf(REFUSAL_JUSTIFICATIONS),
  message: optional(text(2000)),
});
export type Refusal = Static<typeof Refusal>;

/** Why a requisition has to wait, in the provider's words, and until when. */
export const Deferral = object({ reason: text(1000, 1), until: timestamp() });
export type Deferral = Static<typeof Deferral>;

export const FulfillmentContext = object({
  buildLabel: optional(text(255)),
  warnings: optional(array(text(1000), { maxItems: 100 })),
});
export type FulfillmentContext = Static<typeof FulfillmentContext>;

const elGamalKey = object({ elGamalPublicKey: SignedMessage });

/** What a multi-party protocol tells the data provider about one duchy. */
const DuchyEntry = object({
  duchyCertificate: nameOf('duchyCertificate'),
  liquidLegionsV2: optional(elGamalKey),
  reachOnlyLiquidLegionsV2: optional(elGamalKey),
  honestMajorityShareShuffle: optional(
    object({
      publicKey: optional(
        SignedMessage,
        'Of both workers: the share is encrypted for the one that takes the upload, and the seed of its other half for the other one.',
      ),
    }),
  ),
});
export type DuchyEntry = Static<typeof DuchyEntry>;

/** Of a requisition whose measurement the retention removed, only name, state and times are left. */
export const Requisition = object({
  name: optional(nameOf('requisition', 'measurementRequisition')),
  state: enumOf(REQUISITION_STATES),
  ...partial({
    measurement: nameOf('measurement'),
    measurementState: enumOf(MEASUREMENT_STATES),
    measurementConsumerCertificate: nameOf('measurementConsumerCertificate'),
    measurementSpec: SignedMessage,
    dataProvider: nameOf('dataProvider'),
    dataProviderCertificate: nameOf('dataProviderCertificate'),
    dataProviderPublicKey: EncryptionPublicKey,
    encryptedRequisitionSpec: EncryptedRequisitionSpec,
    nonceHash: sha256(),
    nonce: uint64(),
    protocolConfig: ProtocolConfig,
    duchies: mapOf('duchy', DuchyEntry),
    fulfillingDuchy: nameOf('duchy'),
    refusal: Refusal,
    deferral: Deferral,
    fulfillmentContext: FulfillmentContext,
    traceparent: Traceparent,
    etag: text(100),
    createTime: timestamp(),
    updateTime: timestamp(),
    deleteTime: timestamp(),
    findings: array(Finding),
  }),
});
export type Requisition = Static<typeof Requisition>;

export const FulfillDirectRequest = object({
  encryptedResult: EncryptedMessage,
  nonce: uint64(),
  certificate: nameOf('dataProviderCertificate'),
  etag: text(100, 1),
  fulfillmentContext: optional(FulfillmentContext),
});
export type FulfillDirectRequest = Static<typeof FulfillDirectRequest>;

export const RefuseRequest = object({ refusal: Refusal, etag: text(100, 1) });
export type RefuseRequest = Static<typeof RefuseRequest>;
