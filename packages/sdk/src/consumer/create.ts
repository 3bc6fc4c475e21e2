/** Creates a measurement: signs everything, and encrypts each provider's part for it alone. */

import {
  ConsentError,
  createSigner,
  encrypt,
  nonceHash,
  packSignedMessage,
  randomNonce,
  readPublicKeyset,
  type Signer,
  unpackEncryptionPublicKey,
  verifySignature,
} from '@measurement-exchange/consent';
import {
  type DataProviderEntry,
  decodeMeasurementSpec,
  ExchangeError,
  type Measurement,
  type MeasurementInput,
  type PlainSpec,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import { CertificateFault, trustedCertificate } from './certificates.ts';
import type { Dependencies } from './deps.ts';
import { DataProviderUntrusted } from './errors.ts';
import { readRequest } from './readRequest.ts';
import type { MeasurementRequest, ReadRequest, Selection } from './request.ts';
import { encodeMeasurementSpec, encodeRequisitionSpec } from './specs.ts';

/** The certificate of a trusted data provider, and the keyset to encrypt to. */
interface ProviderKey {
  certificate: string;
  keyset: Uint8Array;
}

export async function createMeasurement(
  deps: Dependencies,
  request: MeasurementRequest,
  signal?: AbortSignal,
): Promise<Measurement> {
  const read = readRequest(request);
  const keys = await Promise.all(read.dataProviders.map(({ name }) => providerKey(deps, name, signal)));
  const body = await seal(deps, read, keys);
  const { requestId } = read;
  try {
    return await deps.client.createMeasurement({
      parent: deps.credentials.name,
      body,
      ...(requestId !== undefined && { requestId }),
      ...(signal && { signal }),
    });
  } catch (error) {
    const existing = await existingMeasurement(deps, error, body, signal);
    if (existing === undefined) throw error;
    return existing;
  }
}

/** The key that the provider publishes, signed with the certificate that a trusted root issued. */
async function providerKey(deps: Dependencies, name: string, signal?: AbortSignal): Promise<ProviderKey> {
  const provider = await deps.client.getParty({ name, ...(signal && { signal }) });
  const { certificate, publicKey } = provider;
  if (certificate === undefined) {
    throw new DataProviderUntrusted(name, 'CERTIFICATE_MISSING', 'it has registered no certificate');
  }
  if (publicKey === undefined) {
    throw new DataProviderUntrusted(name, 'PUBLIC_KEY_MISSING', 'it publishes no encryption key');
  }
  try {
    const x509 = await trustedCertificate(deps, certificate, signal);
    await verifySignature(publicKey, x509).catch((error) => {
      if (!(error instanceof ConsentError && error.code === 'SIGNATURE_INVALID')) throw error;
      const message = `${certificate} did not sign its encryption key; ${SIGN_AGAIN}`;
      throw new DataProviderUntrusted(name, error.code, message, error);
    });
    const keyset = unpackEncryptionPublicKey(publicKey.message);
    await readPublicKeyset(keyset);
    return { certificate, keyset };
  } catch (error) {
    if (!(error instanceof ConsentError || error instanceof CertificateFault)) throw error;
    const isOutOfUse = error.code === 'CERTIFICATE_REVOKED' || error.code === 'CERTIFICATE_EXPIRED';
    const message = isOutOfUse ? `${error.message}; ${SIGN_AGAIN}` : error.message;
    throw new DataProviderUntrusted(name, error.code, message, error);
  }
}

const SIGN_AGAIN = 'the provider must sign its encryption key again with a certificate that can be used';

async function seal(
  { credentials }: Dependencies,
  { spec, dataProviders, referenceId }: ReadRequest,
  keys: ProviderKey[],
): Promise<MeasurementInput> {
  const signer = await createSigner(credentials.privateKeyPem);
  const entries = await Promise.all(
    dataProviders.map(async ({ name, selection }, i): Promise<[string, DataProviderEntry]> => {
      return [name, await sealEntry(signer, selection, credentials.encryptionPublicKey, keys[i]!)];
    }),
  );
  const nonceHashes = entries.map(([, entry]) => entry.nonceHash);
  return {
    measurementConsumerCertificate: credentials.certificate,
    measurementSpec: await signer.sign(
      encodeMeasurementSpec(spec, credentials.encryptionPublicKey, nonceHashes),
    ),
    dataProviders: Object.fromEntries(entries),
    ...(referenceId !== undefined && { measurementReferenceId: referenceId }),
  };
}

/** One provider's part: the signed message is encrypted, so that the provider can verify who signed it. */
async function sealEntry(
  signer: Signer,
  selection: Selection,
  ownKeyset: Uint8Array,
  { certificate, keyset }: ProviderKey,
): Promise<DataProviderEntry> {
  const nonce = randomNonce();
  const signed = await signer.sign(encodeRequisitionSpec(selection, ownKeyset, nonce));
  return {
    dataProviderCertificate: certificate,
    dataProviderPublicKey: { '@type': TYPE_URLS.EncryptionPublicKey, data: keyset },
    encryptedRequisitionSpec: {
      ciphertext: await encrypt(keyset, packSignedMessage(signed, TYPE_URLS.RequisitionSpec)),
      typeUrl: TYPE_URLS.RequisitionSpec,
    },
    nonceHash: await nonceHash(nonce),
  };
}

/** The measurement that was created with the same requestId, if it asks for the same. */
async function existingMeasurement(
  { client }: Dependencies,
  error: unknown,
  body: MeasurementInput,
  signal?: AbortSignal,
): Promise<Measurement | undefined> {
  if (!(error instanceof ExchangeError && error.reason === 'REQUEST_ID_REUSED')) return undefined;
  const name = error.metadata.existing;
  if (name === undefined) return undefined;
  const existing = await client.getMeasurement({ name, ...(signal && { signal }) });
  return comparable(existing) === comparable(body) ? existing : undefined;
}

/** What a measurement asks for, without its random and encrypted parts. */
function comparable({
  measurementSpec,
  dataProviders = {},
  measurementReferenceId,
}: Partial<MeasurementInput>): string {
  const decoded = measurementSpec && decodeMeasurementSpec(measurementSpec.message);
  const parameters = decoded && 'spec' in decoded ? parametersOf(decoded.spec) : undefined;
  return JSON.stringify([parameters, Object.keys(dataProviders).sort(), measurementReferenceId]);
}

function parametersOf({ measurementPublicKey: _key, nonceHashes: _hashes, ...parameters }: PlainSpec) {
  return parameters;
}
