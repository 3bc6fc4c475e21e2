/**
 * Verifies that the consumer signed the requisition for this provider, and that the consumer is allowed to ask about
 * the provider's events. A check that fails permanently throws `RefusalError`. After any other error, such as an
 * unreachable exchange, the requisition is retried.
 */

import { type TrustStore, verifySignature, type X509 } from '@measurement-exchange/consent';
import {
  type Certificate,
  decodeMeasurementSpec,
  liquidLegionsOf,
  measurementSpecViolations,
  type PlainSpec,
  type Protocol,
  type Requisition,
  type SignedMessage,
} from '@measurement-exchange/contract';
import { MINIMUM_EPSILON } from '@measurement-exchange/mpc/charges';
import type { RefusalCode } from '../refusals/codes.ts';
import { isNotYetValid, refuseOnConsentError } from '../refusals/consentRefusal.ts';
import { RefusalError, type RefusalPlace } from '../refusals/refusalError.ts';
import { type CertificateFault, trustedCertificate } from '../verification/certificates.ts';
import { LEGIONS_PROTOCOLS } from './verify/duchySettings.ts';
import {
  decryptRequisitionSpec,
  type EncryptionKeys,
  ownKey,
  requireNonce,
  sameResultKey,
} from './verify/keys.ts';
import { outOfRange, requireEpsilon, requireInRange } from './verify/limits.ts';
import {
  type LiquidLegionsContext,
  type VerifiedLiquidLegions,
  verifyLiquidLegions,
} from './verify/liquidLegions.ts';
import { type Parts, requireAddressedTo } from './verify/parts.ts';
import { decodeRequisitionSpec, type PlainRequisitionSpec } from './verify/requisitionSpec.ts';
import { type Selection, type SelectionContext, selectionOf } from './verify/selection.ts';
import {
  type ShareShuffleContext,
  type VerifiedShareShuffle,
  verifyShareShuffle,
} from './verify/shareShuffle.ts';

export type { EncryptionKeys } from './verify/keys.ts';

/** The provider's keys and trusted roots, and functions that read certificates and event groups. */
export interface VerifyContext extends SelectionContext {
  /** The current keys, followed by former keys that earlier measurements may still use. */
  keys: EncryptionKeys[];
  trust: TrustStore;
  fetchCertificate(name: string): Promise<Certificate>;
  minimumEpsilon?: number | undefined;
  /** The settings for protocols with duchies. A requisition is refused if the settings for its protocol are absent. */
  shareShuffle?: ShareShuffleContext | undefined;
  liquidLegions?: LiquidLegionsContext | undefined;
  now: Date;
}

/** A requisition that passed every check. */
export interface VerifiedRequisition {
  name: string;
  measurement: string;
  measurementConsumer: string;
  /** The measurement spec, with all parameters in range. */
  spec: PlainSpec;
  selection: Selection;
  vidSampling: { start: number; width: number };
  nonce: bigint;
  /** The public Tink keyset that encrypts the result. */
  resultKeyset: Uint8Array;
  /** The verified computation of the duchies. Both fields are absent if the provider itself computes the result. */
  shareShuffle?: VerifiedShareShuffle;
  liquidLegions?: VerifiedLiquidLegions;
}

/** Runs all checks in order, without relying on any check by the exchange. */
export async function verifyRequisition(
  requisition: Requisition,
  context: VerifyContext,
): Promise<VerifiedRequisition> {
  const parts = requireAddressedTo(context.name, requisition);
  const protocol = protocolOf(requisition, context);

  const certificate = await consumerCertificate(parts, context);
  await requireSignature('measurementSpec', parts.measurementSpec, certificate);
  const spec = readMeasurementSpec(parts.measurementSpec.message, protocol.name);

  const key = ownKey(parts, context.keys);
  const signed = await decryptRequisitionSpec(parts, key);
  await requireSignature('requisitionSpec', signed, certificate);
  const requisitionSpec = readRequisitionSpec(signed.message);

  const resultKeyset = await sameResultKey(spec, requisitionSpec);
  await requireNonce(requisitionSpec.nonce, parts.nonceHash, spec.nonceHashes);
  requireInRange(spec);
  requireEpsilon(spec, context.minimumEpsilon ?? MINIMUM_EPSILON);
  const selection = await selectionOf(spec, requisitionSpec, parts.measurementConsumer, context);
  const computation = await protocol.verify(spec);

  return {
    name: parts.name,
    measurement: parts.measurement,
    measurementConsumer: parts.measurementConsumer,
    spec,
    selection,
    vidSampling: spec.vidSamplingInterval ?? { start: 0, width: 1 },
    nonce: requisitionSpec.nonce,
    resultKeyset,
    ...computation,
  };
}

interface OfferedProtocol {
  name: Protocol;
  verify(spec: PlainSpec): Promise<Pick<VerifiedRequisition, 'shareShuffle' | 'liquidLegions'>>;
}

/** Returns the measurement's protocol. Throws a refusal if this provider does not offer the protocol. */
function protocolOf(requisition: Requisition, context: VerifyContext): OfferedProtocol {
  const { protocolConfig = {} } = requisition;
  const { shareShuffle, liquidLegions } = context;
  if (protocolConfig.direct) return { name: 'direct', verify: async () => ({}) };
  const config = protocolConfig.honestMajorityShareShuffle;
  if (config && shareShuffle) {
    const accepted = { ...context, ...shareShuffle };
    return {
      name: 'honestMajorityShareShuffle',
      verify: async (spec) => ({
        shareShuffle: await verifyShareShuffle(requisition, config, spec, accepted),
      }),
    };
  }
  const legions = liquidLegionsOf(protocolConfig);
  const { protocols = LEGIONS_PROTOCOLS } = liquidLegions ?? {};
  if (legions && liquidLegions && protocols.includes(legions.protocol)) {
    const accepted = { ...context, ...liquidLegions };
    return {
      name: legions.protocol,
      verify: async (spec) => ({
        liquidLegions: await verifyLiquidLegions(requisition, legions, spec, accepted),
      }),
    };
  }
  throw new RefusalError(
    'PROTOCOL_NOT_OFFERED',
    'This provider has no settings for the protocol of the measurement.',
    { at: 'protocolConfig' },
  );
}

const CERTIFICATE_CODES: Readonly<Record<CertificateFault['code'], RefusalCode>> = {
  CERTIFICATE_OF_ANOTHER_PARTY: 'CERTIFICATE_FOREIGN',
  CERTIFICATE_MISSING: 'CERTIFICATE_NOT_FOUND',
  CERTIFICATE_REVOKED: 'CERTIFICATE_REVOKED',
};

/**
 * Returns the consumer's certificate, which must not be revoked. A root that is trusted for this consumer must have
 * issued it.
 */
function consumerCertificate(parts: Parts, { trust, fetchCertificate, now }: VerifyContext): Promise<X509> {
  const { measurementConsumerCertificate: name, measurementConsumer } = parts;
  return refuseOnConsentError(
    (failed) => CERTIFICATE_CODES[failed as CertificateFault['code']] ?? 'CERTIFICATE_INVALID',
    'measurementConsumerCertificate',
    trustedCertificate(measurementConsumer, name, { fetch: fetchCertificate, trust, now }),
    isNotYetValid,
  );
}

function requireSignature(at: RefusalPlace, signed: SignedMessage, certificate: X509): Promise<void> {
  return refuseOnConsentError('SIGNATURE_INVALID', at, verifySignature(signed, certificate));
}

function readMeasurementSpec(message: Uint8Array, protocol: Protocol): PlainSpec {
  const decoded = decodeMeasurementSpec(message);
  if ('error' in decoded) {
    const message = `The MeasurementSpec cannot be read: ${decoded.error}.`;
    throw new RefusalError('SPEC_MALFORMED', message, { at: 'measurementSpec' });
  }
  const [violation] = measurementSpecViolations(decoded.spec, protocol);
  if (violation) throw outOfRange(violation.field, violation.description);
  return decoded.spec;
}

function readRequisitionSpec(message: Uint8Array): PlainRequisitionSpec {
  try {
    return decodeRequisitionSpec(message);
  } catch (error) {
    const message = `The RequisitionSpec cannot be read: ${(error as Error).message}`;
    throw new RefusalError('SPEC_MALFORMED', message, { at: 'requisitionSpec' });
  }
}
