/**
 * Lists mutations of a valid request. Each one breaks one thing, and has a title, the expected codes, and the fields
 * that the error or the findings name.
 */
import { sign } from 'node:crypto';
import type { DevParty } from '@measurement-exchange/testkit/exchange';
import { signed } from '@measurement-exchange/testkit/steps';
import type { FindingCode } from '../../src/domain/findings.ts';
import {
  hash,
  impressions,
  type Request,
  type SpecInit,
  signedSpec,
  specBytes,
  type World,
  WRONG_TYPE,
  wholeKey,
} from './world.ts';

type Change = (request: Request, w: World) => void;

export interface Mutation<Refusal> {
  title: string;
  /** The expected codes, one for each field. */
  refusals: Refusal[];
  fields: string[];
  change: Change;
}

function mutation<R>(title: string, refusal: R, field: string, change: Change): Mutation<R> {
  return { title, refusals: [refusal], fields: [field], change };
}

const OWN_CERTIFICATE = 'measurementConsumerCertificate';
const AT_STREAMLY = 'dataProviders[dataProviders/streamly]';
const ITS_CERTIFICATE = `${AT_STREAMLY}.dataProviderCertificate`;
const IN_SPEC = 'measurementSpec.message';

const streamlyIn = (request: Request) => request.dataProviders['dataProviders/streamly']!;
const chirperIn = (request: Request) => request.dataProviders['dataProviders/chirper']!;

/** Replaces the spec with a changed spec and signs it again. */
function spec(changes: SpecInit): Change {
  return (request, w) => {
    request.measurementSpec = signedSpec(w, changes);
  };
}

/** Names the certificate of the party that `as` returns, and signs the spec with that party's key. */
function consumer(as: (w: World) => DevParty): Change {
  return (request, w) => {
    request.measurementConsumerCertificate = as(w).certificate;
    request.measurementSpec = signedSpec(w, {}, as(w));
  };
}

function provider(certificate: (w: World) => string): Change {
  return (request, w) => {
    streamlyIn(request).dataProviderCertificate = certificate(w);
  };
}

function badSignature(title: string, change: Change) {
  return mutation<FindingCode>(title, 'SPEC_SIGNATURE_INVALID', 'measurementSpec.signature', change);
}

function signatureOf(make: (spec: Uint8Array, w: World) => Uint8Array): Change {
  return (request, w) => {
    request.measurementSpec.signature = Buffer.from(make(specBytes(w), w)).toString('base64');
  };
}

function untrusted(title: string, field: string, change: Change) {
  return mutation<FindingCode>(title, 'CERTIFICATE_UNTRUSTED', field, change);
}

function notCurrent(title: string, key: (w: World) => string) {
  const field = 'dataProviders[dataProviders/chirper].dataProviderPublicKey.data';
  return mutation<FindingCode>(title, 'PUBLIC_KEY_NOT_CURRENT', field, (request, w) => {
    chirperIn(request).dataProviderPublicKey.data = key(w);
  });
}

function wrongType(title: string, field: string, change: Change) {
  return mutation<FindingCode>(title, 'TYPE_URL_UNKNOWN', `${AT_STREAMLY}.${field}`, change);
}

function mismatch(title: string, change: Change) {
  return mutation<FindingCode>(title, 'NONCE_HASHES_MISMATCH', `${IN_SPEC}.nonceHashes`, change);
}

function parameter(title: string, field: string | string[], changes: SpecInit): Mutation<FindingCode> {
  const fields = [field].flat().map((f) => `${IN_SPEC}.${f}`);
  return { title, refusals: fields.map(() => 'SPEC_PARAMETER_INVALID'), fields, change: spec(changes) };
}

const START = 'vidSamplingInterval.start';
const WIDTH = 'vidSamplingInterval.width';
const EPSILON = 'impression.privacyParams.epsilon';
const DELTA = 'impression.privacyParams.delta';
const withType = (type: Parameters<typeof impressions>[0]) => ({ measurementType: impressions(type) });
const sampling = (start: number, width: number) => ({ vidSamplingInterval: { start, width } });

/** Mutations that cause findings. Advisory checks accept the mutated request, and strict checks reject it. */
export const FOUND: Mutation<FindingCode>[] = [
  badSignature('a signature with its last bit flipped', (request) => {
    const bytes = Buffer.from(request.measurementSpec.signature, 'base64');
    bytes[bytes.length - 1]! ^= 1;
    request.measurementSpec.signature = bytes.toString('base64');
  }),
  badSignature(
    'a signature by the key of another consumer',
    signatureOf((bytes, w) => sign('sha256', bytes, w.globex.privateKeyPem)),
  ),
  badSignature(
    'a signature over the base64 of the message',
    signatureOf((bytes, w) => {
      const base64 = Buffer.from(bytes).toString('base64');
      return sign('sha256', Buffer.from(base64), w.acme.privateKeyPem);
    }),
  ),
  badSignature(
    'a signature in the IEEE P1363 format',
    signatureOf((bytes, w) =>
      sign('sha256', bytes, { key: w.acme.privateKeyPem, dsaEncoding: 'ieee-p1363' }),
    ),
  ),
  badSignature('a message changed after it was signed', (request, w) => {
    const changed = specBytes(w, sampling(0, 0.25));
    request.measurementSpec.message = Buffer.from(changed).toString('base64');
  }),
  badSignature('a signature algorithm for another curve', (request) => {
    request.measurementSpec.signatureAlgorithm = 'ECDSA_P384_SHA384';
  }),
  badSignature('the OID of a signature algorithm for another key type', (request) => {
    request.measurementSpec.signatureAlgorithm = '1.2.840.113549.1.1.11';
  }),
  badSignature('a certificate of the consumer that does not match the signing key', (request, w) => {
    request.measurementConsumerCertificate = w.acmeAs.other.certificate;
  }),

  untrusted(
    'a consumer certificate from an unknown root',
    OWN_CERTIFICATE,
    consumer((w) => w.acmeAs.stranger),
  ),
  untrusted(
    'a consumer certificate from an expired root',
    OWN_CERTIFICATE,
    consumer((w) => w.acmeAs.lapsed),
  ),
  untrusted(
    'a provider certificate from an unknown root',
    ITS_CERTIFICATE,
    provider((w) => w.streamlyAs.stranger.certificate),
  ),
  untrusted(
    'a provider certificate from an expired root',
    ITS_CERTIFICATE,
    provider((w) => w.streamlyAs.lapsed.certificate),
  ),

  notCurrent('the public key of another provider', (w) => w.streamly.encryptionPublicKey),
  notCurrent('the public key that the provider had before', (w) => w.formerKey),
  notCurrent('a whole EncryptionPublicKey in place of its keyset', (w) =>
    wholeKey(w.chirper.encryptionPublicKey),
  ),

  wrongType('a public key of another type', 'dataProviderPublicKey.@type', (request) => {
    streamlyIn(request).dataProviderPublicKey['@type'] = WRONG_TYPE;
  }),
  wrongType('a requisition spec of another type', 'encryptedRequisitionSpec.typeUrl', (request) => {
    streamlyIn(request).encryptedRequisitionSpec.typeUrl = WRONG_TYPE;
  }),

  mismatch('a nonce hash that the spec does not list', (request) => {
    chirperIn(request).nonceHash = hash(3n).toString('base64');
  }),
  mismatch('the same nonce hash at two providers', (request) => {
    chirperIn(request).nonceHash = streamlyIn(request).nonceHash;
  }),
  mismatch('a spec with one nonce hash too few', spec({ nonceHashes: [hash(1n)] })),
  mismatch('a spec with one nonce hash too many', spec({ nonceHashes: [1n, 2n, 3n].map(hash) })),
  {
    title: 'a spec that lists a nonce hash twice',
    refusals: ['SPEC_PARAMETER_INVALID', 'NONCE_HASHES_MISMATCH'],
    fields: [`${IN_SPEC}.nonceHashes[1]`, `${IN_SPEC}.nonceHashes`],
    change: spec({ nonceHashes: [1n, 1n].map(hash) }),
  },

  parameter('an epsilon of 0', EPSILON, withType({ epsilon: 0 })),
  parameter('an infinite epsilon', EPSILON, withType({ epsilon: Number.POSITIVE_INFINITY })),
  parameter('a delta below 0', DELTA, withType({ delta: -1e-9 })),
  parameter('a delta of 1', DELTA, withType({ delta: 1 })),
  parameter('a maximum frequency of 0', 'impression.maximumFrequencyPerUser', withType({ maximum: 0 })),
  parameter('a spec without privacy parameters', 'impression.privacyParams', {
    measurementType: { case: 'impression', value: { maximumFrequencyPerUser: 1 } },
  }),
  parameter('a sampling width of 0', WIDTH, sampling(0, 0)),
  parameter('a sampling width of 1.5', [WIDTH, 'vidSamplingInterval'], sampling(0, 1.5)),
  parameter('a sampling start of 2', [START, 'vidSamplingInterval'], sampling(2, 0.5)),
  parameter('a sampling interval beyond 1', 'vidSamplingInterval', sampling(0.75, 0.5)),
  parameter('a spec without a measurement public key', 'measurementPublicKey', {
    measurementPublicKey: undefined,
  }),
  parameter('a measurement public key of another type', 'measurementPublicKey.typeUrl', {
    measurementPublicKey: { typeUrl: WRONG_TYPE, value: Buffer.from('key') },
  }),
  mutation(
    'a spec without a measurement type',
    'SPEC_UNDECODABLE',
    IN_SPEC,
    spec({ measurementType: { case: undefined } }),
  ),
  mutation('a truncated spec', 'SPEC_UNDECODABLE', IN_SPEC, (request, w) => {
    request.measurementSpec = signed(w.acme, specBytes(w).subarray(0, -1));
  }),
];

function unusable(title: string, field: string, change: Change) {
  return mutation(title, 'CERTIFICATE_IS_INVALID', field, change);
}

function malformed(title: string, field: string, change: Change) {
  return mutation(title, 'INVALID_FIELD_VALUE', field, change);
}

/** Mutations after which the exchange rejects the request, under advisory checks as well as under strict checks. */
export const REFUSED: Mutation<string>[] = [
  unusable(
    'a consumer certificate that is revoked',
    OWN_CERTIFICATE,
    consumer((w) => w.acmeAs.revoked),
  ),
  unusable(
    'a consumer certificate on hold',
    OWN_CERTIFICATE,
    consumer((w) => w.acmeAs.held),
  ),
  unusable(
    'a consumer certificate that has expired',
    OWN_CERTIFICATE,
    consumer((w) => w.acmeAs.expired),
  ),
  unusable(
    'a consumer certificate that is not valid yet',
    OWN_CERTIFICATE,
    consumer((w) => w.acmeAs.early),
  ),
  unusable(
    'a provider certificate that is revoked',
    ITS_CERTIFICATE,
    provider((w) => w.streamlyAs.revoked.certificate),
  ),
  unusable(
    'a provider certificate that has expired',
    ITS_CERTIFICATE,
    provider((w) => w.streamlyAs.expired.certificate),
  ),
  malformed(
    'the certificate of another consumer',
    OWN_CERTIFICATE,
    consumer((w) => w.globex),
  ),
  malformed(
    'the certificate of another provider',
    ITS_CERTIFICATE,
    provider((w) => w.chirper.certificate),
  ),
  mutation(
    'a provider certificate that does not exist',
    'CERTIFICATE_NOT_FOUND',
    ITS_CERTIFICATE,
    provider((w) => `${w.streamly.name}/certificates/absent`),
  ),
  mutation('an unknown provider', 'DATA_PROVIDER_NOT_FOUND', 'dataProviders/nobody', (request, w) => {
    const entry = { ...chirperIn(request), dataProviderCertificate: 'dataProviders/nobody/certificates/c' };
    request.dataProviders = { [w.streamly.name]: streamlyIn(request), 'dataProviders/nobody': entry };
  }),
  malformed('a request without data providers', 'dataProviders', (request) => {
    request.dataProviders = {};
  }),
  malformed('a nonce hash of 31 bytes', `${AT_STREAMLY}.nonceHash`, (request) => {
    streamlyIn(request).nonceHash = hash(1n).subarray(1).toString('base64');
  }),
  malformed(
    'a disclosed nonce that does not match its hash',
    `${AT_STREAMLY}.encryptedRequisitionSpec.nonce`,
    (request) => {
      Object.assign(streamlyIn(request).encryptedRequisitionSpec, { nonce: 9 });
    },
  ),
  malformed('an unknown signature algorithm', 'measurementSpec.signatureAlgorithm', (request) => {
    request.measurementSpec.signatureAlgorithm = 'ECDSA_P256_SHA1';
  }),
  malformed('an empty signature', 'measurementSpec.signature', (request) => {
    request.measurementSpec.signature = '';
  }),
];
