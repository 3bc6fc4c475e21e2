/**
 * Binds a measurement to its consumer and its request. The result key and the data providers' nonces are derived from
 * the consumer's private key, the request, and a salt, half of which is random. The public result key contains the
 * salt, so the consumer can derive the key and the nonces again without storing them. If a derived value differs from
 * the one in the measurement, someone changed the measurement.
 */
import {
  deriveEncryptionKeysets,
  type EncryptionKeysets,
  publicKeysetOf,
  readPrivateKeyset,
  saltOf,
} from '@measurement-exchange/consent';
import { equalBytes, type Measurement, toBase64 } from '@measurement-exchange/contract';
import type { ReadRequest } from './request.ts';
import { encodeMeasurementSpec, encodeRequisitionSpec, parametersIn } from './specs.ts';

export interface Binding {
  keysets: EncryptionKeysets;
  nonces: Map<string, bigint>;
}

/** The part of a measurement that is not encrypted. */
interface Visible {
  /** The serialized MeasurementSpec without its public key and nonce hashes. */
  parameters: Uint8Array;
  dataProviders: string[];
  referenceId: string | undefined;
}

/**
 * The length of each half of a salt. The first half is random, and the second is the tag of the request (see
 * `requestTag`).
 */
const HALF_BYTES = 16;
const NONCE_BYTES = 8;

export async function newBinding(privateKeyset: Uint8Array, request: ReadRequest): Promise<Binding> {
  const { primary } = await readPrivateKeyset(privateKeyset);
  const secret = await importSecret(primary.privateKey);
  const random = crypto.getRandomValues(new Uint8Array(HALF_BYTES));
  const salt = new Uint8Array([...random, ...(await requestTag(secret, random, request))]);
  return bindingOf(secret, salt, visibleIn(request));
}

/**
 * Derives an existing measurement's key and nonces. Returns undefined if the measurement was altered or was not created
 * with any of these private keysets.
 */
export async function findBinding(
  privateKeysets: Uint8Array[],
  measurement: Measurement,
  publicKeyset: Uint8Array,
): Promise<Binding | undefined> {
  const visible = visibleOf(measurement);
  const salt = saltOf(publicKeyset);
  if (salt?.length !== 2 * HALF_BYTES || visible === undefined) return undefined;
  const asked = askedOf(visible);
  const id = `${toBase64(publicKeyset)} ${asked}`;
  for (const keyset of privateKeysets) {
    const { secrets, bindings } = derivedFrom(keyset);
    const found = bindings.get(id);
    if (found !== undefined) return found;
    for (const secret of await secrets) {
      const binding = await bindingOf(secret, salt, visible);
      if (!equalBytes(binding.keysets.publicKeyset, publicKeyset)) continue;
      bindings.set(id, binding);
      if (bindings.size > MAX_BINDINGS) bindings.delete(bindings.keys().next().value!);
      return binding;
    }
  }
  return undefined;
}

/**
 * Returns whether the measurement with this result key was created from this request. Compares all fields of the
 * request except the title, including the encrypted fields.
 */
export async function isOfRequest(
  privateKeysets: Uint8Array[],
  publicKeyset: Uint8Array,
  request: ReadRequest,
): Promise<boolean> {
  const salt = saltOf(publicKeyset);
  if (salt === undefined) return false;
  const secrets = await Promise.all(privateKeysets.map((keyset) => derivedFrom(keyset).secrets));
  for (const secret of secrets.flat()) {
    const tag = await requestTag(secret, salt.subarray(0, HALF_BYTES), request);
    if (equalBytes(tag, salt.subarray(HALF_BYTES))) return true;
  }
  return false;
}

/**
 * Finds the consumer's own private keyset that matches a public keyset. In measurements that earlier versions of the
 * SDK created, all results are encrypted for the consumer's own keyset.
 */
export function findOwnKeyset(
  privateKeysets: Uint8Array[],
  publicKeyset: Uint8Array,
): Uint8Array | undefined {
  return privateKeysets.find((keyset) => equalBytes(publicKeysetOf(keyset), publicKeyset));
}

async function bindingOf(secret: CryptoKey, salt: Uint8Array, visible: Visible): Promise<Binding> {
  const seed = await derive(secret, salt, 'result key', [askedOf(visible)], 32);
  const nonces = visible.dataProviders.map(async (name) => {
    const { buffer } = await derive(secret, salt, 'nonce', [name], NONCE_BYTES);
    // Use 1 instead of 0, because a nonce must not be zero.
    return [name, new DataView(buffer).getBigUint64(0) || 1n] as const;
  });
  return { keysets: await deriveEncryptionKeysets(seed, salt), nonces: new Map(await Promise.all(nonces)) };
}

function askedOf({ parameters, dataProviders, referenceId }: Visible): string {
  return JSON.stringify([toBase64(parameters), [...dataProviders].sort(), referenceId ?? null]);
}

/**
 * Returns a keyed hash of the request without its title. Without the consumer's private key, nobody can forge the hash
 * or recover the request.
 */
function requestTag(secret: CryptoKey, random: Uint8Array, request: ReadRequest): Promise<Uint8Array> {
  const { parameters, referenceId } = visibleIn(request);
  const selections = request.dataProviders
    .map(({ name, selection }) => [name, toBase64(encodeRequisitionSpec(selection))])
    .sort(([a], [b]) => (a! < b! ? -1 : 1));
  const { requestId, protocol } = request;
  const asked = [toBase64(parameters), selections, referenceId ?? null, requestId ?? null];
  // Add the protocol only if it is set, so that the tags of requests from earlier versions stay the same.
  if (protocol !== undefined) asked.push(protocol);
  return derive(secret, random, 'request', asked, HALF_BYTES);
}

function visibleIn({ spec, dataProviders, referenceId }: ReadRequest): Visible {
  return {
    parameters: encodeMeasurementSpec(spec),
    dataProviders: dataProviders.map(({ name }) => name),
    referenceId,
  };
}

/**
 * Returns the unencrypted part of a measurement. Returns undefined if the spec is missing or is JSON (starts with
 * `{`). A JSON spec cannot come from `create`, which always writes a binary spec.
 */
function visibleOf({ measurementSpec, dataProviders = {}, measurementReferenceId }: Measurement) {
  const message = measurementSpec?.message;
  if (message === undefined || message[0] === 0x7b) return undefined;
  return {
    parameters: parametersIn(message),
    dataProviders: Object.keys(dataProviders),
    referenceId: measurementReferenceId,
  };
}

/** Values derived from a private keyset. They are cached, because a measurement is often opened many times. */
interface Derived {
  secrets: Promise<CryptoKey[]>;
  /** The most recently derived bindings, at most MAX_BINDINGS. */
  bindings: Map<string, Binding>;
}
const MAX_BINDINGS = 100;
const derived = new WeakMap<Uint8Array, Derived>();

/** Returns the keys of a private keyset as secrets for `derive`, the primary key first. */
export async function secretsOf(privateKeyset: Uint8Array): Promise<CryptoKey[]> {
  return derivedFrom(privateKeyset).secrets;
}

function derivedFrom(privateKeyset: Uint8Array): Derived {
  const known = derived.get(privateKeyset);
  if (known !== undefined) return known;
  const secrets = readPrivateKeyset(privateKeyset).then(({ primary, keys }) =>
    Promise.all([...new Set([primary, ...keys])].map(({ privateKey }) => importSecret(privateKey))),
  );
  const made = { secrets, bindings: new Map() };
  derived.set(privateKeyset, made);
  secrets.catch(() => derived.delete(privateKeyset));
  return made;
}

function importSecret(privateKey: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey('raw', Uint8Array.from(privateKey), 'HKDF', false, ['deriveBits']);
}

/** Derives bytes with HKDF (RFC 5869). Each combination of label and content yields different bytes. */
export async function derive(
  secret: CryptoKey,
  salt: Uint8Array,
  label: string,
  content: unknown[],
  bytes: number,
): Promise<Uint8Array> {
  const { subtle } = crypto;
  const text = new TextEncoder().encode(JSON.stringify([`measurement-exchange ${label}`, ...content]));
  const info = await subtle.digest('SHA-256', text);
  const hkdf = { name: 'HKDF', hash: 'SHA-256', salt: Uint8Array.from(salt), info };
  return new Uint8Array(await subtle.deriveBits(hkdf, secret, 8 * bytes));
}
