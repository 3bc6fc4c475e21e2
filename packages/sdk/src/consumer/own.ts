/**
 * Verifies that this consumer created a measurement and that nobody changed it. The checks do not trust the exchange.
 */
import {
  type CertificateKey,
  includesHash,
  isSignedBy,
  nonceHash,
  parseCertificate,
  publicKeyOf,
  unpackEncryptionPublicKey,
  verifySignature,
  type X509,
} from '@measurement-exchange/consent';
import {
  type DataProviderEntry,
  decodeMeasurementSpec,
  type Measurement,
  type PlainSpec,
  type SignedMessage,
} from '@measurement-exchange/contract';
import type { Credentials } from '../identity/credentials.ts';
import { existing } from '../verification/certificates.ts';
import { Fault } from '../verification/fault.ts';
import { type Binding, findBinding, findOwnKeyset, isOfRequest } from './binding.ts';
import { certificatesOf, type Dependencies, privateKeysets } from './deps.ts';
import type { ReadRequest } from './request.ts';

export interface OwnMeasurement {
  spec: PlainSpec;
  resultKeyset: Uint8Array;
  /** Whether the keyset belongs to this measurement alone. Earlier versions used one keyset for all measurements. */
  isBound: boolean;
}

/** Thrown if this consumer did not create the measurement, or if someone changed it. */
export class OwnershipFault extends Fault<
  'SPEC_MALFORMED' | 'SPEC_FOREIGN' | 'NONCES_MISMATCH' | 'REQUEST_MISMATCH'
> {
  override readonly name = 'OwnershipFault';
}

/**
 * Returns the measurement's spec and result key. Throws `OwnershipFault`, `CertificateFault`, or `ConsentError` unless
 * this consumer created the measurement and nobody changed it. If `request` is given, the measurement must have been
 * created from this request.
 */
export async function requireOwn(
  deps: Dependencies,
  measurement: Measurement,
  request?: ReadRequest,
): Promise<OwnMeasurement> {
  const { measurementSpec, dataProviders = {} } = measurement;
  const decoded = decodeMeasurementSpec(measurementSpec?.message ?? new Uint8Array());
  if ('error' in decoded) throw new OwnershipFault('SPEC_MALFORMED', `its measurementSpec: ${decoded.error}`);
  const { spec } = decoded;
  const ownKeysets = privateKeysets(deps);
  const publicKeyset = resultKeysetIn(spec);
  const binding = await findBinding(ownKeysets, measurement, publicKeyset);
  const resultKeyset = binding?.keysets.privateKeyset ?? findOwnKeyset(ownKeysets, publicKeyset);
  if (resultKeyset === undefined) {
    throw new OwnershipFault(
      'SPEC_FOREIGN',
      'its result key does not follow from a private key of this consumer and what it asks: it is not as it was ' +
        'created, or a former private key is missing',
    );
  }
  await requireOwnSignature(deps, measurement, measurementSpec!, binding !== undefined);
  await requireNonces(spec, dataProviders, binding);
  if (request !== undefined && !(await isOfRequest(ownKeysets, publicKeyset, request))) {
    throw new OwnershipFault('REQUEST_MISMATCH', 'it was not made from this request');
  }
  return { spec, resultKeyset, isBound: binding !== undefined };
}

/**
 * Finds the private keyset that decrypts a measurement's results. This keyset is derived from the consumer's keyset, or
 * is the consumer's keyset itself if an earlier version of this SDK created the measurement. Returns undefined if
 * neither matches the spec.
 */
export async function findResultKeyset(
  { encryptionPrivateKey }: Pick<Credentials, 'encryptionPrivateKey'>,
  measurement: Measurement,
): Promise<Uint8Array | undefined> {
  const decoded = decodeMeasurementSpec(measurement.measurementSpec?.message ?? new Uint8Array());
  if ('error' in decoded || decoded.spec.measurementPublicKey === undefined) return undefined;
  const publicKeyset = resultKeysetIn(decoded.spec);
  const binding = await findBinding([encryptionPrivateKey], measurement, publicKeyset);
  return binding?.keysets.privateKeyset ?? findOwnKeyset([encryptionPrivateKey], publicKeyset);
}

function resultKeysetIn({ measurementPublicKey: key }: PlainSpec): Uint8Array {
  if (key === undefined) throw new OwnershipFault('SPEC_MALFORMED', 'its measurementSpec has no key');
  return unpackEncryptionPublicKey(key.value);
}

/**
 * Throws unless this consumer signed the spec, with its current key or an earlier one. The certificate of an earlier
 * key is accepted if its issuer is a root that is trusted for the consumer, or if `isBound` is true. `isBound` means
 * that the spec's result key is derived from a private key of the consumer. In this case, the result key proves that
 * the consumer created the measurement.
 */
async function requireOwnSignature(
  deps: Dependencies,
  measurement: Measurement,
  signed: SignedMessage,
  isBound: boolean,
): Promise<void> {
  const { trust, now } = certificatesOf(deps);
  const former = (x509Der: Uint8Array) =>
    isBound ? parseCertificate(x509Der) : trust.verify(deps.credentials.name, x509Der, now);
  if (await isSignedByOwn(deps, measurement, signed, former)) return;
  throw new OwnershipFault(
    'SPEC_FOREIGN',
    'its measurementSpec does not have the signature of this consumer',
  );
}

/**
 * Returns whether this consumer signed a message when it created the measurement. If the current key did not sign the
 * message, but the measurement names an earlier certificate of the consumer, checks the signature with the earlier
 * certificate. The function `former` parses the earlier certificate, and verifies it if the caller requires that.
 * Throws ConsentError, instead of returning false, if the earlier certificate is invalid, or if its key did not sign
 * the message.
 */
export async function isSignedByOwn(
  deps: Dependencies,
  { measurementConsumerCertificate: certificate }: Measurement,
  signed: SignedMessage,
  former: (x509Der: Uint8Array) => X509 | Promise<X509>,
): Promise<boolean> {
  const { credentials } = deps;
  const publicKey = await ownKey(credentials);
  if (await isSignedBy(signed, { publicKey })) return true;
  if (certificate === credentials.certificate || !certificate?.startsWith(`${credentials.name}/`))
    return false;
  const { x509Der } = await existing(certificate, certificatesOf(deps).fetch);
  await verifySignature(signed, await former(x509Der));
  return true;
}

const ownKeys = new WeakMap<Credentials, Promise<CertificateKey>>();

/**
 * Returns the public key of the consumer's current signing key. Caches one key for each credentials object, because
 * importing a key takes time.
 */
function ownKey(credentials: Credentials): Promise<CertificateKey> {
  const key = ownKeys.get(credentials) ?? publicKeyOf(credentials.privateKeyPem);
  ownKeys.set(credentials, key);
  key.catch(() => ownKeys.delete(credentials));
  return key;
}

/**
 * Throws unless the spec's nonce hashes are exactly the nonce hashes of the data providers. `binding` has the nonces
 * that this consumer derives again from its private key. If `binding` is given, each data provider's hash must also
 * match the derived nonce.
 */
async function requireNonces(
  { nonceHashes }: PlainSpec,
  dataProviders: Record<string, DataProviderEntry>,
  binding: Binding | undefined,
): Promise<void> {
  const entries = Object.entries(dataProviders);
  const seen: Uint8Array[] = [];
  for (const [name, { nonceHash: hash }] of entries) {
    const isItsOwn =
      binding === undefined || includesHash([await nonceHash(binding.nonces.get(name)!)], hash);
    if (!isItsOwn || !includesHash(nonceHashes, hash) || includesHash(seen, hash)) {
      throw new OwnershipFault('NONCES_MISMATCH', `${name} is not a data provider that was asked`);
    }
    seen.push(hash);
  }
  if (nonceHashes.length === entries.length) return;
  const message = `${nonceHashes.length} data providers were asked, and ${entries.length} are in it`;
  throw new OwnershipFault('NONCES_MISMATCH', message);
}
