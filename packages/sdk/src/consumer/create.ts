/**
 * Creates a measurement: signs the request, and encrypts each data provider's RequisitionSpec so that only that
 * provider can read it.
 */
import {
  ConsentError,
  createSigner,
  encrypt,
  nonceHash,
  packSignedMessage,
  readPublicKeyset,
  unpackEncryptionPublicKey,
  verifySignature,
} from '@measurement-exchange/consent';
import {
  type DataProviderEntry,
  type EventGroup,
  ExchangeError,
  equalBytes,
  type Measurement,
  type MeasurementInput,
  type SignedMessage,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import { UnexpectedResponse } from '../client/errors.ts';
import { CertificateFault, trustedCertificate } from '../verification/certificates.ts';
import { Fault } from '../verification/fault.ts';
import { newBinding } from './binding.ts';
import { certificatesOf, type Dependencies } from './deps.ts';
import { DataProviderUntrusted, ProtocolRejected } from './errors.ts';
import { requireAttributes, requireSyntax } from './filters.ts';
import { requireOwn } from './own.ts';
import { acceptedProtocol, ProtocolError } from './protocol.ts';
import { openQuestion, questionOf, sealQuestion } from './question.ts';
import { readRequest } from './readRequest.ts';
import type { MeasurementRequest, Question, ReadRequest } from './request.ts';
import { encodeMeasurementSpec, encodeRequisitionSpec } from './specs.ts';

interface ProviderKey {
  certificate: string;
  keyset: Uint8Array;
}

export interface Prepared {
  read: ReadRequest;
  body: MeasurementInput;
}

/**
 * Validates, signs, and encrypts the request. Fetches each event group that has a filter, unless `known` contains it.
 */
export async function prepareMeasurement(
  deps: Dependencies,
  request: MeasurementRequest,
  known?: readonly EventGroup[],
): Promise<Prepared> {
  const read = readRequest(request);
  await requireSyntax(read);
  const [keys] = await Promise.all([
    Promise.all(read.dataProviders.map(({ name }) => providerKey(deps, name))),
    requireAttributes(deps, read, known),
  ]);
  return { read, body: await seal(deps, read, keys, questionOf(request, read)) };
}

export async function createMeasurement(deps: Dependencies, prepared: Prepared): Promise<Measurement> {
  const created = await send(deps, prepared);
  requireAccepted(deps, created, prepared.read);
  return created;
}

/**
 * Creates the measurement, or returns the existing one if an earlier call sent the same request with the same
 * requestId. With `validateOnly`, the exchange returns the measurement that it would create, and creates nothing.
 */
export async function send(
  deps: Dependencies,
  { read, body }: Prepared,
  validateOnly = false,
): Promise<Measurement> {
  const { requestId } = read;
  const { client, signal } = deps;
  try {
    const parent = deps.credentials.name;
    const created = await client.createMeasurement({
      ...{ parent, body, requestId, signal },
      ...(validateOnly && { validateOnly }),
    });
    requireSent(deps, body, created, validateOnly);
    return created;
  } catch (error) {
    const existing = await existingMeasurement(deps, error, read);
    if (existing === undefined) throw error;
    return existing;
  }
}

/** Throws if the consumer would later reject the result because of the protocol or the duchies. */
function requireAccepted(deps: Dependencies, created: Measurement, { spec }: ReadRequest): void {
  try {
    acceptedProtocol(deps, created, spec);
  } catch (error) {
    if (!(error instanceof ProtocolError)) throw error;
    throw new ProtocolRejected(created, error.code, error.message, error);
  }
}

/** Throws unless the exchange returned the measurement that we sent, with a name that belongs to this consumer. */
function requireSent(
  { credentials }: Dependencies,
  sent: MeasurementInput,
  created: Measurement,
  validateOnly: boolean,
): void {
  const message = created.measurementSpec?.message;
  // A measurement that was only validated has no name.
  const isOurs = validateOnly || created.name?.startsWith(`${credentials.name}/measurements/`);
  if (isOurs && message !== undefined && equalBytes(message, sent.measurementSpec.message)) return;
  throw new UnexpectedResponse(
    'createMeasurement: the exchange returned a different measurement than the one that was sent',
    { status: 200, transient: false },
  );
}

/**
 * Reads the encryption key that the provider publishes. Throws unless the key is signed with a certificate from a
 * trusted root.
 */
async function providerKey(deps: Dependencies, name: string): Promise<ProviderKey> {
  const provider = await deps.client.getParty({ name, signal: deps.signal });
  const { certificate, publicKey } = provider;
  if (certificate === undefined) {
    throw new DataProviderUntrusted(name, 'CERTIFICATE_MISSING', 'it has registered no certificate');
  }
  if (publicKey === undefined) {
    throw new DataProviderUntrusted(name, 'PUBLIC_KEY_MISSING', 'it publishes no encryption key');
  }
  try {
    const x509 = await trustedCertificate(name, certificate, certificatesOf(deps));
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
  request: ReadRequest,
  keys: ProviderKey[],
  question: Question,
): Promise<MeasurementInput> {
  const { spec, dataProviders, protocol, referenceId } = request;
  const signer = await createSigner(credentials.privateKeyPem);
  const { keysets, nonces } = await newBinding(credentials.encryptionPrivateKey, request);
  const entries = await Promise.all(
    dataProviders.map(async ({ name, selection }, i): Promise<[string, DataProviderEntry]> => {
      const nonce = nonces.get(name)!;
      const signed = await signer.sign(encodeRequisitionSpec(selection, keysets.publicKeyset, nonce));
      return [name, await sealEntry(signed, nonce, keys[i]!)];
    }),
  );
  const nonceHashes = entries.map(([, entry]) => entry.nonceHash);
  const measurementSpec = await signer.sign(encodeMeasurementSpec(spec, keysets.publicKeyset, nonceHashes));
  const encryptedQuestion = await sealQuestion(question, measurementSpec, signer, keysets.publicKeyset);
  return {
    measurementConsumerCertificate: credentials.certificate,
    measurementSpec,
    dataProviders: Object.fromEntries(entries),
    ...(encryptedQuestion !== undefined && { encryptedQuestion }),
    ...(referenceId !== undefined && { measurementReferenceId: referenceId }),
    ...(protocol !== undefined && { protocolConfig: { [protocol]: {} } }),
  };
}

/**
 * Encrypts one provider's RequisitionSpec together with the consumer's signature, so that the provider can verify who
 * signed it.
 */
async function sealEntry(
  signed: SignedMessage,
  nonce: bigint,
  { certificate, keyset }: ProviderKey,
): Promise<DataProviderEntry> {
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

/** Returns the measurement that this consumer already created from the same request with the same requestId, if any. */
async function existingMeasurement(
  deps: Dependencies,
  error: unknown,
  request: ReadRequest,
): Promise<Measurement | undefined> {
  if (!(error instanceof ExchangeError && error.reason === 'REQUEST_ID_REUSED')) return undefined;
  const name = error.metadata.existing;
  if (name === undefined) return undefined;
  const existing = await deps.client.getMeasurement({ name, signal: deps.signal });
  try {
    await requireOwn(deps, existing, request);
    // Compare the titles too. `requireOwn` cannot compare them, because the title is only in the encrypted copy of the
    // request (the question).
    const question = await openQuestion(deps, existing);
    return question === undefined || question.title === request.title ? existing : undefined;
  } catch (fault) {
    if (fault instanceof Fault || fault instanceof ConsentError) return undefined;
    throw fault;
  }
}
