/** Validates, creates, and updates parties. */
import { fromBinary } from '@bufbuild/protobuf';
import {
  CAPABILITIES,
  type Capabilities,
  type Capability,
  type ExchangeError,
  type Finding,
  hostOf,
  type Interval,
  invalid,
  isPublicHost,
  type PartyInput,
  type PartyState,
  type SignedMessage,
  specs,
  type Timestamp,
} from '@measurement-exchange/contract';
import { type PartyKind, parsePrincipal } from './access.ts';
import { finding } from './findings.ts';
import { notFound } from './found.ts';
import { nextVersion } from './time.ts';

export type ModelLineAvailability = NonNullable<PartyInput['dataAvailabilityIntervals']>[number];

export interface PartyRecord {
  /** A resource name such as `dataProviders/x`. */
  name: string;
  displayName: string;
  state: PartyState;
  publicKey: SignedMessage | undefined;
  /** The ID of the party's certificate whose key signed the public key. */
  publicKeyCertificate: string | undefined;
  /** The protocols that the party supports. For a data provider, also its other capabilities. */
  protocols: Capability[];
  availability: Interval | undefined;
  /** The availability of individual model lines, if it differs from `availability`. */
  modelLineAvailability: ModelLineAvailability[] | undefined;
  /** The URL at which data providers and other duchies reach the duchy. */
  endpoint: string | undefined;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

/**
 * The rules for a duchy's endpoint. `anywhere` accepts http and any host, for development. In production, the endpoint
 * must use https, and its host must be public or in `privateHosts`.
 */
export type EndpointRules = 'anywhere' | { privateHosts: readonly string[] };
const PUBLIC: EndpointRules = { privateHosts: [] };

export function newParty(
  name: string,
  input: PartyInput,
  now: Timestamp,
  rules: EndpointRules = PUBLIC,
): PartyRecord {
  const blank: PartyRecord = {
    name,
    displayName: '',
    state: 'ACTIVE',
    publicKey: undefined,
    publicKeyCertificate: undefined,
    protocols: [],
    availability: undefined,
    modelLineAvailability: undefined,
    endpoint: undefined,
    version: 1,
    createTime: now,
    updateTime: now,
  };
  return replaceFields(blank, input, rules);
}

/** Replaces only the fields that the input has. */
export function updateParty(
  before: PartyRecord,
  input: PartyInput,
  now: Timestamp,
  rules: EndpointRules = PUBLIC,
  keeps: readonly string[] = [],
): PartyRecord {
  const after = replaceFields(before, input, rules);
  const kept = before.protocols.filter((name) => keeps.includes(`capabilities.${name}Supported`));
  return { ...after, protocols: [...new Set([...after.protocols, ...kept])], ...nextVersion(before, now) };
}

export function setState(before: PartyRecord, state: PartyState, now: Timestamp): PartyRecord {
  return before.state === state ? before : { ...before, state, ...nextVersion(before, now) };
}

export function bindPublicKey(before: PartyRecord, certificate: string, now: Timestamp): PartyRecord {
  return { ...before, publicKeyCertificate: certificate, ...nextVersion(before, now) };
}

function replaceFields(party: PartyRecord, input: PartyInput, rules: EndpointRules): PartyRecord {
  requireInterval(input.dataAvailabilityInterval, 'dataAvailabilityInterval');
  requireModelLines(input.dataAvailabilityIntervals);
  requireEncryptionPublicKey(input.publicKey, 'publicKey');
  return {
    ...party,
    displayName: input.displayName ?? party.displayName,
    publicKey: input.publicKey ?? party.publicKey,
    protocols: input.capabilities === undefined ? party.protocols : protocolsOf(input.capabilities),
    availability: input.dataAvailabilityInterval ?? party.availability,
    modelLineAvailability: given(input.dataAvailabilityIntervals ?? party.modelLineAvailability),
    endpoint: input.endpoint === undefined ? party.endpoint : readEndpoint(input.endpoint, rules),
  };
}

function given<T>(items: T[] | undefined): T[] | undefined {
  return items?.length === 0 ? undefined : items;
}

function requireInterval(interval: Interval | undefined, field: string): void {
  if (interval?.endTime === undefined || interval.startTime < interval.endTime) return;
  throw invalid([{ field: `${field}.endTime`, description: 'must be after startTime' }]);
}

function requireModelLines(intervals: ModelLineAvailability[] = []): void {
  const names = intervals.map(({ modelLine }) => modelLine);
  for (const [i, { modelLine, interval }] of intervals.entries()) {
    const field = `dataAvailabilityIntervals[${i}]`;
    requireInterval(interval, `${field}.interval`);
    if (names.indexOf(modelLine) === i) continue;
    throw invalid([{ field: `${field}.modelLine`, description: 'repeats an earlier one' }]);
  }
}

/**
 * Returns the URL's origin, to which callers append paths. The host name is not resolved, because providers and duchies
 * resolve it in their own networks.
 */
function readEndpoint(endpoint: string, rules: EndpointRules): string {
  const reject = (description: string) => invalid([{ field: 'endpoint', description }]);
  // Check the form first, because the URL parser alone would also accept spaces, backslashes, and credentials.
  const url = /^https?:\/\/[^/?#@\\\s]+\/?$/i.test(endpoint) ? URL.parse(endpoint) : null;
  if (url === null) {
    throw reject('must be a URL such as https://duchy.example.com:8443, without path, query or credentials');
  }
  if (rules === 'anywhere') return url.origin;
  if (url.protocol === 'http:') throw reject('must be https');
  const host = hostOf(url);
  if (!isPublicHost(host) && !rules.privateHosts.includes(host)) {
    throw reject(`must be public: ${host} is not, unless the operator adds it to allowedPrivateHosts`);
  }
  return url.origin;
}

/** Everybody who lists parties reads their keys. A key and its signature have a few hundred bytes. */
const MAX_PUBLIC_KEY_BYTES = 16 * 1024;

export function requireEncryptionPublicKey(key: SignedMessage | undefined, field: string): void {
  if (key === undefined) return;
  if (key.message.length + key.signature.length > MAX_PUBLIC_KEY_BYTES) {
    const description = `must have at most ${MAX_PUBLIC_KEY_BYTES} bytes with its signature`;
    throw invalid([{ field: `${field}.message`, description }]);
  }
  try {
    if (fromBinary(specs.EncryptionPublicKeySchema, key.message).data.length > 0) return;
  } catch {
    // The bytes are not protobuf, so throw the error below.
  }
  throw invalid([{ field: `${field}.message`, description: 'must be a serialized EncryptionPublicKey' }]);
}

export function publicKeyUnverified(): Finding {
  const message = 'No usable certificate of the party verifies the signature of its public key.';
  return finding('PUBLIC_KEY_SIGNATURE_INVALID', 'publicKey.signature', message);
}

/**
 * Throws if the input names a certificate but no public key. The certificate would have no effect, and the caller
 * probably forgot the key.
 */
export function requireKeyOfCertificate({ publicKey, publicKeyCertificate }: PartyInput): void {
  if (publicKeyCertificate === undefined || publicKey !== undefined) return;
  throw invalid([{ field: 'publicKey', description: 'must be given with publicKeyCertificate' }]);
}

/** Returns the capabilities that are true. Each capability has its own field, such as `liquidLegionsV2Supported`. */
function protocolsOf(capabilities: Capabilities): Capability[] {
  return CAPABILITIES.filter((name) => (capabilities as Record<string, boolean>)[`${name}Supported`]);
}

export function capabilitiesOf(protocols: Capability[]): Capabilities {
  return Object.fromEntries(protocols.map((protocol) => [`${protocol}Supported`, true]));
}

const NOT_FOUND = {
  measurementConsumer: 'MEASUREMENT_CONSUMER_NOT_FOUND',
  dataProvider: 'DATA_PROVIDER_NOT_FOUND',
  duchy: 'DUCHY_NOT_FOUND',
} as const;

export function partyNotFound(name: string): ExchangeError {
  return notFound(NOT_FOUND[parsePrincipal(name)!.kind as PartyKind], name);
}
