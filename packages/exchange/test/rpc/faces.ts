/**
 * Compares resources as REST and gRPC show them. To print a protobuf message as proto3 JSON, the comparison uses the
 * protobuf library, which shares no code with the exchange's translators. Each test lists the fields that only one of
 * the two APIs has.
 */
import { createRegistry, type DescMessage, type MessageShape, toJson } from '@bufbuild/protobuf';
import { file_google_protobuf_struct } from '@bufbuild/protobuf/wkt';
import { SIGNATURE_ALGORITHMS, specs, TYPE_URLS } from '@measurement-exchange/contract';
import type { TestExchange } from '@measurement-exchange/testkit/exchange';
import { expect } from 'vitest';

// biome-ignore lint/suspicious/noExplicitAny: the JSON of any resource
export type Json = Record<string, any>;

const registry = createRegistry(specs.EncryptionPublicKeySchema.file, file_google_protobuf_struct);

/** Reads a resource over REST. All numbers become text, because JSON.parse would round large numbers. */
export async function byRest(exchange: TestExchange, party: { token: string }, name: string): Promise<Json> {
  const { status, text } = await exchange.call(party.token, 'GET', `/v2alpha/${name}`);
  expect(status).toBe(200);
  return JSON.parse(text, ((_key: string, value: unknown, { source }: { source: string }) =>
    typeof value === 'number' ? source : value) as never);
}

export function printed<S extends DescMessage>(schema: S, message: MessageShape<S>): Json {
  return toJson(schema, message, { registry }) as Json;
}

const OIDS: Record<string, string> = Object.fromEntries(
  Object.entries(SIGNATURE_ALGORITHMS).map(([name, { oid }]) => [name, oid]),
);

/**
 * Converts a resource from either API to a common form, without protobuf's default values, and with maps instead of
 * lists of entries.
 */
export function plain(value: unknown): unknown {
  if (Array.isArray(value)) {
    const isMap = value.length > 0 && value.every((one) => Object.keys(one as Json).join() === 'key,value');
    if (isMap) return plain(Object.fromEntries((value as Json[]).map((one) => [one.key, one.value])));
    return value.map(plain);
  }
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value)) {
    const [second, fraction = ''] = value.slice(0, -1).split('.');
    return `${second}.${fraction.padEnd(6, '0').slice(0, 6)}Z`;
  }
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'object' || value === null) return value;
  const isKey = (value as Json)['@type'] === TYPE_URLS.EncryptionPublicKey;
  // Add the format of a key, because gRPC always shows it.
  const given = isKey ? { format: 'TINK_KEYSET', ...value } : signedForm(value as Json);
  const members = Object.entries(given).map(([key, inner]) => [key, plain(inner)] as const);
  return Object.fromEntries(members.filter(([, inner]) => !isDefault(inner)));
}

function isDefault(value: unknown): boolean {
  if (value === undefined || value === false || value === '') return true;
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * Converts a SignedMessage to a common form. In protobuf, the bytes are in `data` and the algorithm is an OID. If no
 * algorithm is set, the result has the algorithm of the test keys.
 */
function signedForm(value: Json): Json {
  if (!('signature' in value)) return value;
  const { message, data, signature, signatureAlgorithm: name, signatureAlgorithmOid } = value;
  return {
    message: data ?? message,
    signature,
    signatureAlgorithm: signatureAlgorithmOid ?? OIDS[name ?? 'ECDSA_P256_SHA256'] ?? name,
  };
}

const without = (value: Json, fields: string[]): Json =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !fields.includes(key)));

/** The fields that only one of the two APIs has. */
interface Only {
  rest?: string[];
  grpc?: string[];
}

export function expectEqual(rest: Json, grpc: Json, only: Only = {}): void {
  expect(plain(without(grpc, only.grpc ?? []))).toEqual(plain(without(rest, only.rest ?? [])));
}

/**
 * Returns the protocol of a config in a common form. In REST, the protocol is a member of the config. In gRPC, the
 * protocol is the only entry of a list. The common form omits the fields in `OF_DUCHIES`, which only REST has. It also
 * omits the details of direct measurements, of which gRPC has more.
 */
function protocolOf(config: Json | undefined): Json | undefined {
  if (config === undefined) return undefined;
  const { measurementType, protocols, ...members } = config;
  const protocol: Json = protocols === undefined ? members : protocols[0];
  const [name] = Object.keys(protocol);
  const { sketchParams, ...rest } = protocol[name!];
  const { ellipticCurveId = 415, ...shown } = { ...rest, ...sketchParams };
  // 415 is OpenSSL's numeric identifier (NID) of the curve P-256.
  expect(ellipticCurveId).toBe(415);
  return { measurementType, protocol: name, parameters: name === 'direct' ? {} : without(shown, OF_DUCHIES) };
}

const OF_DUCHIES = [
  ...['firstWorker', 'secondWorker', 'workers', 'aggregator', 'population', 'populationFingerprint'],
  ...['histogramPrivacyParams', 'publisherPrivacyParams'],
];

/**
 * Replaces the type URL that encrypted data has in gRPC with the type URL that the data has in REST. A wrong type URL
 * becomes `not translated`, so that the comparison fails.
 */
const retyped = (encrypted: Json | undefined, typeUrl: string) =>
  encrypted && {
    ...encrypted,
    typeUrl: encrypted.typeUrl === TYPE_URLS.SignedMessage ? typeUrl : 'not translated',
  };

export function measurementOf(printedMeasurement: Json): Json {
  const entries = Object.values(printedMeasurement.dataProviders as Json[]).map(({ key, value }) => [
    key,
    {
      ...value,
      encryptedRequisitionSpec: retyped(value.encryptedRequisitionSpec, TYPE_URLS.RequisitionSpec),
    },
  ]);
  return {
    ...printedMeasurement,
    dataProviders: Object.fromEntries(entries),
    protocolConfig: protocolOf(printedMeasurement.protocolConfig),
    results: printedMeasurement.results?.map((one: Json) => ({
      ...one,
      encryptedResult: retyped(one.encryptedResult, TYPE_URLS.MeasurementResult),
    })),
  };
}

export function requisitionOf(printedRequisition: Json): Json {
  const { encryptedRequisitionSpec: encrypted, ...rest } = printedRequisition;
  expect(rest.encryptedRequisitionSpecCiphertext).toBe(encrypted.ciphertext);
  return {
    ...rest,
    protocolConfig: protocolOf(rest.protocolConfig),
    encryptedRequisitionSpec: retyped(encrypted, TYPE_URLS.RequisitionSpec),
  };
}

/** The fields of a requisition that only one of the APIs has. */
export const ONLY_OF_REQUISITIONS: Only = {
  rest: ['dataProvider', 'nonceHash', 'fulfillingDuchy', 'traceparent', 'createTime'],
  grpc: ['encryptedRequisitionSpecCiphertext'],
};

/** Returns a measurement or requisition from REST, with its protocol in the form of `protocolOf`. */
export const inOneForm = (rest: Json): Json => ({ ...rest, protocolConfig: protocolOf(rest.protocolConfig) });
