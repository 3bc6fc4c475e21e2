/**
 * Verifies that a requisition is what its consumer signed, for this provider, about events that the consumer may ask
 * about. A check that fails for good throws `RefusalError`; any other error (an unreachable exchange) is passed on, and
 * the requisition is retried later.
 */

import {
  ConsentError,
  decrypt,
  nonceMatches,
  readPublicKeyset,
  resultKeysetOf,
  type TrustStore,
  unpackSignedMessage,
  verifySignature,
  type X509,
} from '@measurement-exchange/consent';
import {
  type Certificate,
  decodeMeasurementSpec,
  equalBytes,
  liquidLegionsOf,
  measurementSpecViolations,
  type PlainSpec,
  type Protocol,
  parseName,
  type Requisition,
  type SignedMessage,
} from '@measurement-exchange/contract';
import type { Credentials } from '../identity/credentials.ts';
import type { RefusalCode } from '../refusals/codes.ts';
import { isNotYetValid, type RetryableCode, refuseOnConsentError } from '../refusals/consentRefusal.ts';
import { RefusalError, type RefusalPlace } from '../refusals/refusalError.ts';
import { type CertificateFault, trustedCertificate } from '../verification/certificates.ts';
import { LEGIONS_PROTOCOLS } from './multiParty/settings.ts';
import {
  type ShareShuffleContext,
  type VerifiedShareShuffle,
  verifyShareShuffle,
} from './multiParty/verify.ts';
import {
  type LiquidLegionsContext,
  type VerifiedLiquidLegions,
  verifyLiquidLegions,
} from './multiParty/verifyLegions.ts';
import { MINIMUM_EPSILON, outOfRange, requireEpsilon, requireInRange } from './verify/limits.ts';
import { decodeRequisitionSpec, type PlainRequisitionSpec } from './verify/requisitionSpec.ts';
import { type Selection, type SelectionContext, selectionOf } from './verify/selection.ts';

/** The keys under which consumers encrypt for a provider. */
export type EncryptionKeys = Pick<Credentials, 'encryptionPublicKey' | 'encryptionPrivateKey'>;

/** The provider's keys and trusted roots, and how to read certificates and event groups. */
export interface VerifyContext extends SelectionContext {
  /** The current keys first, then former ones that earlier measurements may still use. */
  keys: EncryptionKeys[];
  trust: TrustStore;
  fetchCertificate(name: string): Promise<Certificate>;
  /** The smallest epsilon of a figure that is answered. */
  minimumEpsilon?: number | undefined;
  /** The computations by duchies that the provider accepts; without either of them it computes direct results only. */
  shareShuffle?: ShareShuffleContext | undefined;
  liquidLegions?: LiquidLegionsContext | undefined;
  now: Date;
}

/** A requisition that passed every check. */
export interface VerifiedRequisition {
  name: string;
  measurementConsumer: string;
  /** Its parameters are in range. */
  spec: PlainSpec;
  selection: Selection;
  vidSampling: { start: number; width: number };
  nonce: bigint;
  /** The Tink keyset to encrypt the result under. */
  resultKeyset: Uint8Array;
  /** The computation by duchies; neither is there where the result is direct. */
  shareShuffle?: VerifiedShareShuffle;
  liquidLegions?: VerifiedLiquidLegions;
}

/** Runs all checks in order, without relying on any check of the exchange. */
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
  const computation = await verifyComputation(requisition, protocol, spec, context);

  return {
    name: parts.name,
    measurementConsumer: parts.measurementConsumer,
    spec,
    selection,
    vidSampling: spec.vidSamplingInterval ?? { start: 0, width: 1 },
    nonce: requisitionSpec.nonce,
    resultKeyset,
    ...computation,
  };
}

/** Fields that the exchange sends with every open requisition. */
const PARTS = [
  'name',
  'measurement',
  'measurementConsumerCertificate',
  'measurementSpec',
  'dataProvider',
  'dataProviderPublicKey',
  'encryptedRequisitionSpec',
  'nonceHash',
] as const;

type Relayed = { [P in (typeof PARTS)[number]]: NonNullable<Requisition[P]> };
type Parts = Relayed & { measurementConsumer: string };

/** The requisition is complete and addressed to this provider. */
function requireAddressedTo(provider: string, requisition: Requisition): Parts {
  const missing = PARTS.find((part) => requisition[part] === undefined);
  if (missing !== undefined) {
    throw new RefusalError('REQUISITION_INCOMPLETE', `The requisition has no ${missing}.`, { at: missing });
  }
  const parts = requisition as Relayed;
  if (parts.dataProvider !== provider) {
    const message = `The requisition is for ${parts.dataProvider}.`;
    throw new RefusalError('PROVIDER_MISMATCH', message, { at: 'dataProvider' });
  }
  const { measurementConsumer } = parseName('measurement', parts.measurement)!;
  return { ...parts, measurementConsumer: `measurementConsumers/${measurementConsumer}` };
}

/** The protocol of the measurement, which this provider has to offer. */
function protocolOf({ protocolConfig = {} }: Requisition, { shareShuffle, liquidLegions }: VerifyContext) {
  if (protocolConfig.direct) return { name: 'direct' } as const;
  const config = protocolConfig.honestMajorityShareShuffle;
  if (config && shareShuffle) return { name: 'honestMajorityShareShuffle', config, shareShuffle } as const;
  const legions = liquidLegionsOf(protocolConfig);
  if (legions && liquidLegions) {
    const { protocols = LEGIONS_PROTOCOLS } = liquidLegions;
    if (protocols.includes(legions.protocol)) {
      return { name: legions.protocol, config: legions.config, liquidLegions } as const;
    }
  }
  throw new RefusalError(
    'PROTOCOL_NOT_OFFERED',
    'This provider has no settings for the protocol of the measurement.',
    { at: 'protocolConfig' },
  );
}

/** The duchies of the protocol, where it has any. */
async function verifyComputation(
  requisition: Requisition,
  protocol: ReturnType<typeof protocolOf>,
  spec: PlainSpec,
  context: VerifyContext,
): Promise<Pick<VerifiedRequisition, 'shareShuffle' | 'liquidLegions'>> {
  switch (protocol.name) {
    case 'direct':
      return {};
    case 'honestMajorityShareShuffle': {
      const accepted = { ...context, ...protocol.shareShuffle };
      return { shareShuffle: await verifyShareShuffle(requisition, protocol.config, spec, accepted) };
    }
    default: {
      const { name, config } = protocol;
      const accepted = { ...context, ...protocol.liquidLegions };
      return {
        liquidLegions: await verifyLiquidLegions(requisition, { protocol: name, config }, spec, accepted),
      };
    }
  }
}

const CERTIFICATE_CODES: Readonly<Record<CertificateFault['code'], RefusalCode>> = {
  CERTIFICATE_OF_ANOTHER_PARTY: 'CERTIFICATE_FOREIGN',
  CERTIFICATE_MISSING: 'CERTIFICATE_NOT_FOUND',
  CERTIFICATE_REVOKED: 'CERTIFICATE_REVOKED',
};

/** The certificate is the consumer's, not revoked, and chains to a root that is trusted for that consumer. */
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

/** The key of this provider that the requisition was encrypted under. */
function ownKey({ dataProviderPublicKey }: Parts, keys: EncryptionKeys[]): EncryptionKeys {
  const key = keys.find(({ encryptionPublicKey }) =>
    equalBytes(encryptionPublicKey, dataProviderPublicKey.data),
  );
  if (key) return key;
  throw new RefusalError('PROVIDER_KEY_UNKNOWN', 'dataProviderPublicKey is no key of this provider.', {
    at: 'dataProviderPublicKey',
  });
}

async function decryptRequisitionSpec(parts: Parts, key: EncryptionKeys): Promise<SignedMessage> {
  const { ciphertext } = parts.encryptedRequisitionSpec;
  const opened = decrypt(key.encryptionPrivateKey, ciphertext).then(unpackSignedMessage);
  return refuseOnConsentError('DECRYPTION_FAILED', 'encryptedRequisitionSpec', opened, isOwnKeyError);
}

function readRequisitionSpec(message: Uint8Array): PlainRequisitionSpec {
  try {
    return decodeRequisitionSpec(message);
  } catch (error) {
    const message = `The RequisitionSpec cannot be read: ${(error as Error).message}`;
    throw new RefusalError('SPEC_MALFORMED', message, { at: 'requisitionSpec' });
  }
}

/** Both specifications must name the same key for the result, else one of them is from another measurement. */
async function sameResultKey(spec: PlainSpec, requisitionSpec: PlainRequisitionSpec): Promise<Uint8Array> {
  const [theirs, ours] = [spec.measurementPublicKey!, requisitionSpec.measurementPublicKey];
  const sameType =
    theirs.typeUrl === undefined || ours.typeUrl === undefined || theirs.typeUrl === ours.typeUrl;
  if (!sameType || !equalBytes(theirs.value, ours.value)) {
    throw new RefusalError('RESULT_KEY_MISMATCH', 'The two specifications differ in measurementPublicKey.', {
      at: 'requisitionSpec.measurementPublicKey',
    });
  }
  try {
    const keyset = resultKeysetOf(theirs);
    await readPublicKeyset(keyset);
    return keyset;
  } catch (error) {
    if (!(error instanceof ConsentError)) throw error;
    const at = 'measurementSpec.measurementPublicKey';
    throw new RefusalError('RESULT_KEY_INVALID', `measurementPublicKey: ${error.message}`, {
      at,
      cause: error,
    });
  }
}

/** The nonce must hash to the requisition's nonceHash, which must be in the signed MeasurementSpec. */
async function requireNonce(nonce: bigint, hash: Uint8Array, signedHashes: Uint8Array[]): Promise<void> {
  if (nonce === 0n || !(await nonceMatches(nonce, hash))) {
    throw new RefusalError('NONCE_MISMATCH', 'The nonce of the RequisitionSpec does not hash to nonceHash.', {
      at: 'requisitionSpec.nonce',
    });
  }
  if (!signedHashes.some((signed) => equalBytes(signed, hash))) {
    throw new RefusalError(
      'NONCE_NOT_SIGNED',
      'nonceHash is none of the nonceHashes of the MeasurementSpec.',
      {
        at: 'nonceHash',
      },
    );
  }
}

const isOwnKeyError: RetryableCode = (code) => code.startsWith('KEY');
