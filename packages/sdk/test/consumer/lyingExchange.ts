/**
 * Simulates an exchange in memory, and parties that use only this exchange. The exchange works correctly except for the
 * false replies that a test asks for.
 */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  createSigner,
  decrypt,
  encrypt,
  packSignedMessage,
  unpackEncryptionPublicKey,
  unpackSignedMessage,
} from '@measurement-exchange/consent';
import {
  decodeMeasurementSpec,
  ExchangeError,
  fromBase64,
  type SignedMessage,
  specs,
  TYPE_URLS,
  toBase64,
} from '@measurement-exchange/contract';
import { createIdentity, type Identity, type Root } from '../../src/identity/index.ts';
import {
  type ClientOptions,
  type Clock,
  type Consumer,
  type Credentials,
  createClient,
  createConsumer,
  createTrustStore,
  type ExchangeClient,
  type MeasurementRequest,
} from '../../src/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests change any part of this JSON
export type Json = any;

/** A request, and the reply of an honest exchange. */
export interface Exchanged {
  method: string;
  /** The path after v2alpha without the query, for example `dataProviders/streamly`. */
  path: string;
  query: URLSearchParams;
  sent: Json;
  status: number;
  reply: Json;
}

/**
 * Returns the JSON or the response to send instead of the honest reply. The function receives a copy of the honest
 * reply, and may change this copy.
 */
export type Lie = (exchanged: Exchanged) => Json | Response | Promise<Json | Response>;

export interface Party extends Credentials {
  identity: Identity;
}

export const ACME = 'measurementConsumers/acme';
export const GLOBEX = 'measurementConsumers/globex';
export const STREAMLY = 'dataProviders/streamly';
export const CHIRPER = 'dataProviders/chirper';
export const DAILYNEWS = 'dataProviders/dailynews';
/** Alpha and Beta are workers, and Gamma is the aggregator. Mallory is a registered duchy that no party accepts. */
export const ALPHA = 'duchies/alpha';
export const BETA = 'duchies/beta';
export const GAMMA = 'duchies/gamma';
export const MALLORY = 'duchies/mallory';

/** The configuration of share shuffle with the three duchies. */
export const SHARE_SHUFFLE = {
  honestMajorityShareShuffle: {
    firstWorker: ALPHA,
    secondWorker: BETA,
    aggregator: GAMMA,
    noiseMechanism: 'DISCRETE_GAUSSIAN',
    ringModulus: 127,
    population: 'populations/everybody',
    populationFingerprint: toBase64(new Uint8Array(32)),
  },
} as const;

const HIDING = { epsilon: 0.1, delta: 1e-9 };
const SKETCH = {
  ...{ workers: [ALPHA, BETA], aggregator: GAMMA, noiseMechanism: 'DISCRETE_GAUSSIAN' },
  ...{ decayRate: 12, maxSize: 10_000, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
} as const;
/** The configurations of Liquid Legions with the same three duchies. */
export const REACH_ONLY_LEGIONS = { reachOnlyLiquidLegionsV2: SKETCH };
export const LEGIONS = {
  liquidLegionsV2: { ...SKETCH, samplingIndicatorSize: 10_000_000, maximumFrequency: 10 },
};

export interface LyingExchange {
  parties: Map<string, Party>;
  of(name: string): Party;
  /** All requests so far, each with the reply of an honest exchange. */
  log: Exchanged[];
  /** Maps names to resources. Creating a measurement adds the measurement and its requisitions. */
  resources: Map<string, Json>;
  /** The protocol of new measurements. */
  protocolConfig: Json;
  tell(lie: Lie): void;
  client(options?: Partial<ClientOptions>): ExchangeClient;
  /** Fulfills the provider's requisition of a measurement correctly. */
  fulfill(measurement: string, provider: string, result: ResultInit): Promise<void>;
  /** Stores the duchy's result as the only result of a measurement, and sets the measurement's state to SUCCEEDED. */
  setResult(measurement: string, duchy: string, result: ResultInit): Promise<void>;
  /** Returns a result that this party signed for the measurement, in the form of an entry in `results`. */
  signedResult(measurement: string, party: string, result: ResultInit): Promise<Json>;
}

export type ResultInit = Exclude<
  MessageInitShape<typeof specs.Measurement_ResultSchema>,
  { $typeName: string }
>;

export const reach = (value: bigint): ResultInit => ({
  reach: {
    value,
    noiseMechanism: specs.ProtocolConfig_NoiseMechanism.GEOMETRIC,
    methodology: { case: 'deterministicCountDistinct', value: {} },
  },
});

/** A reach that duchies computed from frequency vectors of `people` registers each. */
export const shuffledReach = (value: bigint, people = 1_000_000n): ResultInit => ({
  reach: {
    value,
    noiseMechanism: specs.ProtocolConfig_NoiseMechanism.DISCRETE_GAUSSIAN,
    methodology: { case: 'honestMajorityShareShuffle', value: { frequencyVectorSize: people } },
  },
});

/** A request for the reach of these data providers, in one measurement. */
export const asking = (filter: string, ...providers: string[]): MeasurementRequest => ({
  type: 'reach',
  privacy: { epsilon: 0.5, delta: 1e-9 },
  dataProviders: providers.map((name) => ({
    name,
    eventGroups: [{ name: `${name}/eventGroups/tv`, interval: INTERVAL, filter }],
  })),
});
const INTERVAL = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };

export const honest = ({ reply }: Exchanged) => reply;

/** Returns the name and the code of the error, for comparisons. */
export const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing failed',
    (error: Error & { code?: string }) => `${error.name} ${error.code ?? ''}`.trim(),
  );

/**
 * Creates the consumer acme. The consumer accepts the given duchies, by default none. It trusts only the root `trusted`
 * in PEM. If `trusted` is undefined, it trusts the root of each party for that party's certificates.
 */
export function consumerOf(x: LyingExchange, trusted?: string, duchies?: string[]): Consumer {
  const roots = trusted
    ? [{ pem: trusted }]
    : [...x.parties].map(([party, { identity }]) => ({ party, pem: identity.root.certificatePem }));
  return createConsumer({
    client: x.client(),
    credentials: x.of(ACME),
    trust: createTrustStore(roots),
    clock: idleClock(),
    ...(duchies && { duchies }),
  });
}

/** A clock that advances only by sleeps, which return immediately. */
export function idleClock(): Clock {
  let now = Date.now();
  return {
    now: () => now,
    sleep: async (ms, signal) => {
      signal?.throwIfAborted();
      now += ms;
    },
  };
}

/** Starts the exchange. All parties have the root `shared`. If `shared` is undefined, each party has its own root. */
export async function startLyingExchange(shared?: Root): Promise<LyingExchange> {
  const parties = new Map<string, Party>();
  const resources = new Map<string, Json>();
  const log: Exchanged[] = [];
  let lie: Lie = ({ reply }) => reply;
  let ids = 0;

  for (const name of [ACME, GLOBEX, STREAMLY, CHIRPER, DAILYNEWS, ALPHA, BETA, GAMMA, MALLORY]) {
    const identity = await createIdentity({
      party: name,
      commonName: name.split('/')[1]!,
      now: Date.now(),
      days: 30,
      ...(shared && { root: shared }),
    });
    const certificate = `${name}/certificates/c1`;
    const { message, signature, signatureAlgorithm } = identity.publicKey;
    parties.set(name, {
      identity,
      name,
      certificate,
      privateKeyPem: identity.privateKeyPem,
      encryptionPublicKey: identity.keysets.publicKeyset,
      encryptionPrivateKey: identity.keysets.privateKeyset,
    });
    resources.set(name, {
      name,
      state: 'ACTIVE',
      certificate,
      publicKey: { message: toBase64(message), signature: toBase64(signature), signatureAlgorithm },
    });
    resources.set(certificate, {
      name: certificate,
      x509Der: identity.certificatePem.replace(/-----[^-]+-----|\s/g, ''),
      subjectKeyIdentifier: 'AAAA',
      notBefore: '2026-01-01T00:00:00Z',
      notAfter: '2126-01-01T00:00:00Z',
    });
  }
  const of = (name: string) => parties.get(name)!;

  function createMeasurement(parent: string, body: Json): Json {
    const name = `${parent}/measurements/m${++ids}`;
    const { protocolConfig } = exchange;
    const measurement = { name, state: 'AWAITING_REQUISITION_FULFILLMENT', ...body, protocolConfig };
    resources.set(name, measurement);
    for (const [provider, entry] of Object.entries<Json>(body.dataProviders)) {
      const { measurementConsumerCertificate, measurementSpec } = body;
      resources.set(`${provider}/requisitions/r${++ids}`, {
        name: `${provider}/requisitions/r${ids}`,
        state: 'UNFULFILLED',
        measurement: name,
        ...{ measurementConsumerCertificate, measurementSpec, ...entry, protocolConfig },
        dataProvider: provider,
        etag: 'e1',
      });
    }
    return measurement;
  }

  function close(name: string, verb: string, body: Json): Json {
    const requisition = resources.get(name);
    const measurement = resources.get(requisition.measurement);
    if (verb === 'refuse') {
      Object.assign(requisition, { state: 'REFUSED', refusal: body.refusal });
      measurement.state = 'FAILED';
      measurement.failure = { reason: 'REQUISITION_REFUSED', message: 'refused' };
      return requisition;
    }
    requisition.state = 'FULFILLED';
    const { certificate, encryptedResult } = body;
    measurement.results = [...(measurement.results ?? []), { certificate, encryptedResult }];
    if (measurement.results.length === Object.keys(measurement.dataProviders).length) {
      measurement.state = 'SUCCEEDED';
    }
    return requisition;
  }

  function list(path: string, query: URLSearchParams): Json {
    const [collection, parent] = [path.split('/').at(-1)!, path.split('/').slice(0, -1).join('/')];
    const states = query.getAll('filter.states');
    const found = [...resources.values()].filter(({ name, measurement, state }) => {
      const belongs =
        name.startsWith(`${path}/`) || (collection === 'requisitions' && measurement === parent);
      return belongs && (states.length === 0 || states.includes(state));
    });
    return { [collection]: found };
  }

  function answer(method: string, path: string, query: URLSearchParams, sent: Json): Json {
    const [name, verb] = path.split(':') as [string, string?];
    if (method === 'POST' && verb === undefined) return createMeasurement(name.replace(/\/[^/]+$/, ''), sent);
    if (method === 'POST') return close(name, verb!, sent);
    if (path.split('/').length % 2 === 1) return list(path, query);
    const absent = new ExchangeError('CERTIFICATE_NOT_FOUND', 'There is none.');
    return resources.get(path) ?? JSON.parse(JSON.stringify(absent));
  }

  const fetch: typeof globalThis.fetch = async (input, init) => {
    const url = new URL(String(input));
    const path = url.pathname.replace('/v2alpha/', '');
    const method = init?.method ?? 'GET';
    const sent = init?.body ? JSON.parse(String(init.body)) : undefined;
    const reply = structuredClone(answer(method, path, url.searchParams, sent));
    const status = resources.has(path) || method === 'POST' || path.split('/').length % 2 === 1 ? 200 : 404;
    const exchanged = { method, path, query: url.searchParams, sent, status, reply };
    log.push({ ...exchanged, reply: structuredClone(reply) });
    const told = await lie(exchanged);
    if (told instanceof Response) return told;
    return new Response(JSON.stringify(told), {
      status: told === reply ? status : 200,
      headers: { 'content-type': 'application/json' },
    });
  };

  /** Signs a result as this party, and encrypts the signed result with `keyset`. */
  async function sealResult(party: string, keyset: Uint8Array, result: ResultInit): Promise<Json> {
    const { privateKeyPem, certificate } = of(party);
    const bytes = toBinary(specs.Measurement_ResultSchema, create(specs.Measurement_ResultSchema, result));
    const signed: SignedMessage = await (await createSigner(privateKeyPem)).sign(bytes);
    const typeUrl = TYPE_URLS.MeasurementResult;
    const ciphertext = toBase64(await encrypt(keyset, packSignedMessage(signed, typeUrl)));
    return { certificate, encryptedResult: { ciphertext, typeUrl } };
  }

  async function signedResult(measurement: string, party: string, result: ResultInit): Promise<Json> {
    const decoded = decodeMeasurementSpec(fromBase64(resources.get(measurement).measurementSpec.message)!);
    if ('error' in decoded) throw new Error(decoded.error);
    return sealResult(party, unpackEncryptionPublicKey(decoded.spec.measurementPublicKey!.value), result);
  }

  const exchange: LyingExchange = {
    parties,
    of,
    log,
    resources,
    protocolConfig: { measurementType: 'REACH', direct: {} },
    tell: (next) => {
      lie = next;
    },
    signedResult,
    setResult: async (name, duchy, result) => {
      const results = [await signedResult(name, duchy, result)];
      Object.assign(resources.get(name), { state: 'SUCCEEDED', results });
    },
    client: (options) =>
      createClient({ baseUrl: 'http://exchange.test', token: 't', fetch, clock: idleClock(), ...options }),
    fulfill: async (measurement, provider, result) => {
      const requisition = [...resources.values()].find(
        (r) => r.measurement === measurement && r.dataProvider === provider,
      );
      const sealed = fromBase64(requisition.encryptedRequisitionSpec.ciphertext)!;
      const { message } = unpackSignedMessage(await decrypt(of(provider).encryptionPrivateKey, sealed));
      const spec = fromBinary(specs.RequisitionSpecSchema, message);
      const keyset = unpackEncryptionPublicKey(spec.measurementPublicKey!.value);
      close(requisition.name, 'fulfillDirect', await sealResult(provider, keyset, result));
    },
  };
  return exchange;
}
