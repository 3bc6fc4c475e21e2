/** An exchange in memory that does its job, and lies where a test says so; with parties that talk to nobody else. */
import { create, fromBinary, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  createSigner,
  decrypt,
  encrypt,
  packSignedMessage,
  unpackEncryptionPublicKey,
  unpackSignedMessage,
} from '@measurement-exchange/consent';
import { ExchangeError, fromBase64, specs, TYPE_URLS, toBase64 } from '@measurement-exchange/contract';
import { createIdentity, type Identity, type Root } from '../../src/identity/index.ts';
import {
  type ClientOptions,
  type Clock,
  type Credentials,
  createClient,
  type ExchangeClient,
} from '../../src/index.ts';

// biome-ignore lint/suspicious/noExplicitAny: JSON as it is sent, which the tests alter in any place
export type Json = any;

/** A request, and what an honest exchange answers to it. */
export interface Exchanged {
  method: string;
  /** Below v2alpha, without the query: `dataProviders/streamly`. */
  path: string;
  query: URLSearchParams;
  sent: Json;
  status: number;
  reply: Json;
}

/** Returns what is sent instead: JSON, or a whole response. The reply given is a copy. */
export type Lie = (exchanged: Exchanged) => Json | Response | Promise<Json | Response>;

export interface Party extends Credentials {
  identity: Identity;
}

export const ACME = 'measurementConsumers/acme';
export const GLOBEX = 'measurementConsumers/globex';
export const STREAMLY = 'dataProviders/streamly';
export const CHIRPER = 'dataProviders/chirper';
export const DAILYNEWS = 'dataProviders/dailynews';

export interface LyingExchange {
  parties: Map<string, Party>;
  of(name: string): Party;
  /** Everything that was answered so far. */
  log: Exchanged[];
  /** Every resource by its name. Those of a measurement are its own and its requisitions. */
  resources: Map<string, Json>;
  tell(lie: Lie): void;
  client(options?: Partial<ClientOptions>): ExchangeClient;
  /** Has a provider fulfil its requisition of a measurement, as it should. */
  fulfill(measurement: string, provider: string, result: ResultInit): Promise<void>;
}

export type ResultInit = MessageInitShape<typeof specs.Measurement_ResultSchema>;

export const reach = (value: bigint): ResultInit => ({
  reach: {
    value,
    noiseMechanism: specs.ProtocolConfig_NoiseMechanism.GEOMETRIC,
    methodology: { case: 'deterministicCountDistinct', value: {} },
  },
});

/** Time that passes only while somebody sleeps, and then at once. */
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

/** With a root of its own for each party, or one for all. */
export async function startLyingExchange(shared?: Root): Promise<LyingExchange> {
  const parties = new Map<string, Party>();
  const resources = new Map<string, Json>();
  const log: Exchanged[] = [];
  let lie: Lie = ({ reply }) => reply;
  let ids = 0;

  for (const name of [ACME, GLOBEX, STREAMLY, CHIRPER, DAILYNEWS]) {
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
    const protocolConfig = { measurementType: 'REACH', direct: {} };
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

  return {
    parties,
    of,
    log,
    resources,
    tell: (next) => {
      lie = next;
    },
    client: (options) =>
      createClient({ baseUrl: 'http://exchange.test', token: 't', fetch, clock: idleClock(), ...options }),
    fulfill: async (measurement, provider, result) => {
      const requisition = [...resources.values()].find(
        (r) => r.measurement === measurement && r.dataProvider === provider,
      );
      const { encryptionPrivateKey, privateKeyPem, certificate } = of(provider);
      const sealed = fromBase64(requisition.encryptedRequisitionSpec.ciphertext)!;
      const { message } = unpackSignedMessage(await decrypt(encryptionPrivateKey, sealed));
      const spec = fromBinary(specs.RequisitionSpecSchema, message);
      const keyset = unpackEncryptionPublicKey(spec.measurementPublicKey!.value);
      const signer = await createSigner(privateKeyPem);
      const bytes = toBinary(specs.Measurement_ResultSchema, create(specs.Measurement_ResultSchema, result));
      const signed = packSignedMessage(await signer.sign(bytes), TYPE_URLS.MeasurementResult);
      const ciphertext = toBase64(await encrypt(keyset, signed));
      const encryptedResult = { ciphertext, typeUrl: TYPE_URLS.MeasurementResult };
      close(requisition.name, 'fulfillDirect', { certificate, encryptedResult });
    },
  };
}
