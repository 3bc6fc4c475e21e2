/** What an exchange can make a consumer believe: nothing. */
import { create, toBinary } from '@bufbuild/protobuf';
import {
  createSigner,
  decrypt,
  encrypt,
  nonceHash,
  packSignedMessage,
  unpackEncryptionPublicKey,
} from '@measurement-exchange/consent';
import {
  decodeMeasurementSpec,
  fromBase64,
  type Measurement,
  specs,
  TYPE_URLS,
  toBase64,
} from '@measurement-exchange/contract';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readRequest } from '../../src/consumer/readRequest.ts';
import { encodeMeasurementSpec, encodeRequisitionSpec } from '../../src/consumer/specs.ts';
import { createIdentity, createRoot } from '../../src/identity/index.ts';
import {
  type Consumer,
  createConsumer,
  createTrustStore,
  EVENT_GROUP_METADATA_TYPE_URL,
  type MeasurementRequest,
  packEventGroupMetadata,
} from '../../src/index.ts';
import {
  ACME,
  CHIRPER,
  DAILYNEWS,
  type Exchanged,
  idleClock,
  type Json,
  type LyingExchange,
  reach,
  STREAMLY,
  startLyingExchange,
} from './lyingExchange.ts';

const INTERVAL = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
const SECRET = 'person.id == "the secret filter"';

const asking = (filter: string, ...providers: string[]): MeasurementRequest => ({
  type: 'reach',
  privacy: { epsilon: 0.5, delta: 1e-9 },
  dataProviders: providers.map((name) => ({
    name,
    eventGroups: [{ name: `${name}/eventGroups/tv`, interval: INTERVAL, filter }],
  })),
});

const honest = ({ reply }: Exchanged) => reply;
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => 'nothing failed',
    (error: Error & { code?: string }) => `${error.name} ${error.code ?? ''}`.trim(),
  );

function consumerOf(x: LyingExchange, trusted?: string): Consumer {
  const roots = trusted
    ? [{ pem: trusted }]
    : [...x.parties].map(([party, { identity }]) => ({ party, pem: identity.root.certificatePem }));
  return createConsumer({
    client: x.client(),
    credentials: x.of(ACME),
    trust: createTrustStore(roots),
    clock: idleClock(),
  });
}

/** The names of those who can read a part of what was sent. */
async function readersOf(x: LyingExchange): Promise<string[]> {
  const readers: string[] = [];
  const created = x.log.filter(({ method, path }) => method === 'POST' && path.endsWith('/measurements'));
  for (const entry of created.flatMap(({ sent }) => Object.values<Json>(sent.dataProviders))) {
    const ciphertext = fromBase64(entry.encryptedRequisitionSpec.ciphertext)!;
    for (const { name, encryptionPrivateKey } of x.parties.values()) {
      await decrypt(encryptionPrivateKey, ciphertext).then(
        () => readers.push(name),
        () => {},
      );
    }
  }
  return readers;
}

describe('a consumer encrypts only for whom it asked:', () => {
  const chirpersParty = (x: LyingExchange) => (e: Exchanged) =>
    e.path === STREAMLY ? x.resources.get(CHIRPER) : e.reply;
  const chirpersPartyRenamed = (x: LyingExchange) => (e: Exchanged) =>
    e.path === STREAMLY ? { ...x.resources.get(CHIRPER), name: STREAMLY } : e.reply;
  /** Everything of Chirper's under the names of Streamly. */
  const chirpersAsStreamlys = (x: LyingExchange) => (e: Exchanged) =>
    e.path.startsWith(STREAMLY)
      ? JSON.parse(
          JSON.stringify(x.resources.get(e.path.replace(STREAMLY, CHIRPER))).replaceAll(CHIRPER, STREAMLY),
        )
      : e.reply;
  const lies: [string, typeof chirpersParty][] = [
    ['another provider is returned', chirpersParty],
    ['another provider is returned under its name', chirpersPartyRenamed],
    ['another provider, its certificate and its key are returned under its names', chirpersAsStreamlys],
  ];

  it.each(lies)('%s', async (_what, lie) => {
    const x = await startLyingExchange();
    x.tell(lie(x));
    expect(await failure(consumerOf(x).create(asking(SECRET, STREAMLY)))).toBe(
      'DataProviderUntrusted CERTIFICATE_OF_ANOTHER_PARTY',
    );
    expect(await readersOf(x)).toEqual([]);
  });

  it.each(lies)('%s, where one root issued the certificates of all', async (_what, lie) => {
    const root = await createRoot('Root of all', Date.now());
    const x = await startLyingExchange(root);
    await consumerOf(x, root.certificatePem).create(asking(SECRET, STREAMLY));
    expect(await readersOf(x)).toEqual([STREAMLY]);
    x.tell(lie(x));
    expect(await failure(consumerOf(x, root.certificatePem).create(asking(SECRET, STREAMLY)))).toBe(
      'DataProviderUntrusted CERTIFICATE_OF_ANOTHER_PARTY',
    );
    expect(await readersOf(x)).toEqual([STREAMLY]);
  });
});

describe('a consumer opens only what it asked:', () => {
  let x: LyingExchange;
  let consumer: Consumer;
  const ONE = asking('a', STREAMLY, CHIRPER);
  const OTHER = asking('b', STREAMLY, CHIRPER);
  let one: Measurement;
  let other: Measurement;

  const measured = async (request: MeasurementRequest, figures: Record<string, bigint>) => {
    const { name } = await consumer.create(request);
    for (const [provider, value] of Object.entries(figures)) await x.fulfill(name!, provider, reach(value));
    return consumer.wait(name!);
  };

  beforeAll(async () => {
    x = await startLyingExchange();
    consumer = consumerOf(x);
    one = await measured(ONE, { [STREAMLY]: 100n, [CHIRPER]: 50n });
    other = await measured(OTHER, { [STREAMLY]: 7n, [CHIRPER]: 3n });
  });
  beforeEach(() => x.tell(honest));

  const opened = (changes: Partial<Measurement>) => failure(consumer.open({ ...one, ...changes }));
  const without = <T>(record: Record<string, T> | undefined, name: string) =>
    Object.fromEntries(Object.entries(record!).filter(([key]) => key !== name));

  it('opens what is as it was created, in another process too', async () => {
    const { total, dataProviders } = await consumerOf(x).open(one);
    expect(total.reach!.bounds).toEqual([100, 150]);
    expect(dataProviders.map(({ name }) => name).sort()).toEqual([CHIRPER, STREAMLY]);
    const request = await consumerOf(x).open(one, { request: ONE });
    expect(request.total.reach!.bounds).toEqual([100, 150]);
  });

  it('a provider that was dropped, with its result', async () => {
    const results = one.results!.filter(({ certificate }) => !certificate.startsWith(CHIRPER));
    const dataProviders = without(one.dataProviders, CHIRPER);
    expect(await opened({ results, dataProviders })).toMatch(/^ResultRejected /);
  });

  it('a provider in the place of another', async () => {
    const replaced = {
      ...without(one.dataProviders, CHIRPER),
      [DAILYNEWS]: one.dataProviders![CHIRPER]!,
    } as Measurement['dataProviders'];
    const [ofStreamly] = one.results!.filter(({ certificate }) => certificate.startsWith(STREAMLY));
    // Daily News is a provider that the consumer trusts, in league with the exchange.
    const decoded = decodeMeasurementSpec(one.measurementSpec!.message);
    if ('error' in decoded) throw new Error(decoded.error);
    const keyset = unpackEncryptionPublicKey(decoded.spec.measurementPublicKey!.value);
    const { certificate, privateKeyPem } = x.of(DAILYNEWS);
    const result = create(specs.Measurement_ResultSchema, reach(9n));
    const signer = await createSigner(privateKeyPem);
    const signed = await signer.sign(toBinary(specs.Measurement_ResultSchema, result));
    const typeUrl = TYPE_URLS.MeasurementResult;
    const ciphertext = await encrypt(keyset, packSignedMessage(signed, typeUrl));
    const ofDailyNews = { certificate, encryptedResult: { ciphertext, typeUrl } };
    expect(await opened({ dataProviders: replaced!, results: [ofStreamly!, ofDailyNews] })).toBe(
      'ResultRejected SPEC_FOREIGN',
    );
  });

  it('a spec that was altered, or signed by somebody else', async () => {
    const message = Uint8Array.from(one.measurementSpec!.message);
    message[message.length - 1]! ^= 1;
    expect(await opened({ measurementSpec: { ...one.measurementSpec!, message } })).toMatch(
      /^ResultRejected /,
    );
    const signature = other.measurementSpec!.signature;
    expect(await opened({ measurementSpec: { ...one.measurementSpec!, signature } })).toMatch(
      /^ResultRejected /,
    );
  });

  it('the spec of another measurement', async () => {
    expect(await opened({ measurementSpec: other.measurementSpec! })).toMatch(/^ResultRejected /);
  });

  it('another reference of the caller', async () => {
    expect(await opened({ measurementReferenceId: 'job 8' })).toMatch(/^ResultRejected /);
  });

  it('results of another measurement of the same consumer, type and providers', async () => {
    expect(await opened({ results: other.results! })).toBe('ResultRejected NO_MATCHING_KEY');
    const mixed = one.results!.map((result) =>
      result.certificate.startsWith(CHIRPER)
        ? other.results!.find(({ certificate }) => certificate.startsWith(CHIRPER))!
        : result,
    );
    expect(await opened({ results: mixed })).toBe('ResultRejected NO_MATCHING_KEY');
  });

  it('an extra result, beside the good ones', async () => {
    const extra = { ...one.results![0]!, certificate: `${DAILYNEWS}/certificates/c1` };
    expect(await opened({ results: [...one.results!, extra] })).toBe('ResultRejected SIGNER_FOREIGN');
  });

  it('one measurement under the name of another, where it knows the request', async () => {
    const swapped = { ...other, name: one.name! };
    expect(await failure(consumer.open(swapped, { request: ONE }))).toBe('ResultRejected REQUEST_MISMATCH');
    const answering = async (name: string) => {
      await x.fulfill(name, STREAMLY, reach(1n));
      await x.fulfill(name, CHIRPER, reach(1n));
    };
    x.tell(async (e) => {
      if (e.method === 'POST') await answering(e.reply.name);
      return e.path.includes('/measurements/') ? { ...x.resources.get(other.name!), name: e.path } : e.reply;
    });
    expect(await failure(consumer.measure(ONE))).toMatch(/^ResultRejected /);
  });

  it('a measurement that was made with its long-lived key, unless its spec or its providers were changed', async () => {
    const { name: acme, encryptionPublicKey, privateKeyPem, certificate } = x.of(ACME);
    const { spec, dataProviders } = readRequest(ONE);
    const signer = await createSigner(privateKeyPem);
    const entries = await Promise.all(
      dataProviders.map(async ({ name, selection }, i) => {
        const nonce = 1000n + BigInt(i);
        const bytes = encodeRequisitionSpec(selection, encryptionPublicKey, nonce);
        const sealed = packSignedMessage(await signer.sign(bytes), TYPE_URLS.RequisitionSpec);
        const keyset = x.of(name).encryptionPublicKey;
        const entry = {
          dataProviderCertificate: x.of(name).certificate,
          dataProviderPublicKey: { '@type': TYPE_URLS.EncryptionPublicKey, data: keyset },
          encryptedRequisitionSpec: {
            ciphertext: await encrypt(keyset, sealed),
            typeUrl: TYPE_URLS.RequisitionSpec,
          },
          nonceHash: await nonceHash(nonce),
        };
        return [name, entry] as const;
      }),
    );
    const hashes = entries.map(([, entry]) => entry.nonceHash);
    const body = {
      measurementConsumerCertificate: certificate,
      measurementSpec: await signer.sign(encodeMeasurementSpec(spec, encryptionPublicKey, hashes)),
      dataProviders: Object.fromEntries(entries),
    };
    const { name } = await x.client().createMeasurement({ parent: acme, body });
    await x.fulfill(name!, STREAMLY, reach(20n));
    await x.fulfill(name!, CHIRPER, reach(5n));
    const done = await consumer.wait(name!);
    expect((await consumer.open(done)).total.reach!.bounds).toEqual([20, 25]);

    const altered = (changes: Partial<Measurement>) => failure(consumer.open({ ...done, ...changes }));
    expect(await altered({ dataProviders: without(done.dataProviders, CHIRPER) })).toBe(
      'ResultRejected NONCES_MISMATCH',
    );
    const forged = await (await createSigner(x.of(CHIRPER).privateKeyPem)).sign(
      done.measurementSpec!.message,
    );
    expect(await altered({ measurementSpec: forged })).toBe('ResultRejected SPEC_FOREIGN');
    expect(
      await altered({
        measurementSpec: forged,
        measurementConsumerCertificate: `${ACME}/certificates/earlier`,
      }),
    ).toBe('ResultRejected CERTIFICATE_MISSING');
    x.tell((e) => (e.path.endsWith('/earlier') ? x.resources.get(`${CHIRPER}/certificates/c1`) : e.reply));
    expect(
      await altered({
        measurementSpec: forged,
        measurementConsumerCertificate: `${ACME}/certificates/earlier`,
      }),
    ).toBe('ResultRejected CERTIFICATE_OF_ANOTHER_PARTY');
  });

  it('a measurement that it signed with an earlier certificate', async () => {
    const { identity, ...credentials } = x.of(ACME);
    const { root, keysets } = identity;
    const now = Date.now();
    const renewed = await createIdentity({ party: ACME, commonName: 'acme', now, days: 30, root, keysets });
    const later = createConsumer({
      client: x.client(),
      credentials: {
        ...credentials,
        certificate: `${ACME}/certificates/c2`,
        privateKeyPem: renewed.privateKeyPem,
      },
      trust: createTrustStore(
        [STREAMLY, CHIRPER].map((party) => ({ party, pem: x.of(party).identity.root.certificatePem })),
      ),
    });
    expect((await later.open(one)).total.reach!.bounds).toEqual([100, 150]);
    const signature = other.measurementSpec!.signature;
    const broken = { ...one, measurementSpec: { ...one.measurementSpec!, signature } };
    expect(await failure(later.open(broken))).toBe('ResultRejected SIGNATURE_INVALID');
  });

  it('another measurement than the one it sent, or under the name of another consumer', async () => {
    x.tell((e) => (e.method === 'POST' ? x.resources.get(other.name!) : e.reply));
    expect(await failure(consumer.create(ONE))).toBe('UnexpectedResponse');
    x.tell((e) =>
      e.method === 'POST' ? { ...e.reply, name: 'measurementConsumers/globex/measurements/m' } : e.reply,
    );
    expect(await failure(consumer.create(ONE))).toBe('UnexpectedResponse');
  });

  it('another measurement as the one that was created with its request ID', async () => {
    const reused = (existing: string) => ({
      error: {
        code: 409,
        status: 'ALREADY_EXISTS',
        message: 'The requestId was used for another request.',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'REQUEST_ID_REUSED',
            domain: 'measurement-exchange',
            metadata: { existing },
          },
        ],
      },
    });
    const asked = { ...ONE, requestId: 'nightly' };
    const mine = await consumer.create(asked);
    const existing = (name: string) =>
      x.tell((e) =>
        e.method === 'POST'
          ? new Response(JSON.stringify(reused(name)), {
              status: 409,
              headers: { 'content-type': 'application/json' },
            })
          : e.reply,
      );
    existing(mine.name!);
    expect((await consumer.create(asked)).name).toBe(mine.name);
    for (const name of [one.name!, other.name!]) {
      existing(name);
      expect(await failure(consumer.create(asked))).toMatch(/^ExchangeError/);
    }
  });
});

describe('a consumer reads only so much:', () => {
  const json = { headers: { 'content-type': 'application/json' } };
  /** A body that never ends, and what was taken of it. */
  function endless(chunk: Uint8Array) {
    const taken = { bytes: 0, cancelled: false };
    const body = new ReadableStream({
      pull: (controller) => {
        taken.bytes += chunk.length;
        controller.enqueue(chunk);
      },
      cancel: () => {
        taken.cancelled = true;
      },
    });
    return { taken, body };
  }

  it('a response that does not end', async () => {
    const x = await startLyingExchange();
    const chunk = new TextEncoder().encode(' '.repeat(64 * 1024));
    const { taken, body } = endless(chunk);
    x.tell(() => new Response(body, json));
    const client = x.client({ maxResponseBytes: 1_000_000, maxAttempts: 1 });
    await expect(client.getParty({ name: STREAMLY })).rejects.toMatchObject({
      name: 'UnexpectedResponse',
      message: expect.stringContaining('is longer than 1000000 bytes'),
    });
    expect(taken.cancelled).toBe(true);
    expect(taken.bytes).toBeLessThan(2_000_000);
  });

  it('an error that does not end', async () => {
    const x = await startLyingExchange();
    const { taken, body } = endless(new Uint8Array(64 * 1024).fill(32));
    x.tell(() => new Response(body, { ...json, status: 500 }));
    const client = x.client({ maxAttempts: 1 });
    await expect(client.getParty({ name: STREAMLY })).rejects.toThrow('is longer than 1048576 bytes');
    expect(taken.bytes).toBeLessThan(2_000_000);
  });

  it('a response that drips', async () => {
    const x = await startLyingExchange();
    const timers: NodeJS.Timeout[] = [];
    x.tell(() => {
      const body = new ReadableStream({
        pull: (controller) =>
          new Promise((resolve) => {
            timers.push(setTimeout(() => resolve(controller.enqueue(Uint8Array.of(32))), 20));
          }),
      });
      return new Response(body, json);
    });
    const client = x.client({ timeoutMs: 200, maxAttempts: 1 });
    await expect(client.getParty({ name: STREAMLY })).rejects.toThrow('within 200 ms');
    for (const timer of timers) clearTimeout(timer);
  });

  it('a response of millions of values', async () => {
    const x = await startLyingExchange();
    x.tell(() => new Response(`{"name": [${'0,'.repeat(2_000_001)}0]}`, json));
    await expect(x.client({ maxAttempts: 1 }).getParty({ name: STREAMLY })).rejects.toThrow(
      'more than 2000000 keys and values',
    );
  });

  it.each<[string, (page: number) => Json]>([
    [
      'in a circle',
      (page) => ({
        eventGroups: [{ name: `${ACME}/eventGroups/g`, measurementConsumer: ACME, state: 'ACTIVE' }],
        nextPageToken: `t${page % 7}`,
      }),
    ],
    ['of empty pages', (page) => ({ eventGroups: [], nextPageToken: `t${page}` })],
  ])('a list that never ends, %s', async (_what, reply) => {
    const x = await startLyingExchange();
    let pages = 0;
    x.tell(() => {
      if (++pages > 1000) throw new Error('too many pages were read');
      return reply(pages);
    });
    await expect(Array.fromAsync(consumerOf(x).listEventGroups())).rejects.toThrow('The list does not end');
  });

  it('one bad event group, which ends no list', async () => {
    const x = await startLyingExchange();
    const { encryptionPublicKey } = x.of(ACME);
    const descriptor = `${STREAMLY}/eventGroupMetadataDescriptors/d`;
    const sealed = async (plaintext: Uint8Array) => ({
      ciphertext: toBase64(await encrypt(encryptionPublicKey, plaintext)),
      typeUrl: EVENT_GROUP_METADATA_TYPE_URL,
    });
    const packed = (name: string) =>
      packEventGroupMetadata({
        eventGroupMetadataDescriptor: name,
        typeUrl: 'type.googleapis.com/shows.Episode',
        value: new Uint8Array(),
      });
    const readable = (metadata: Json) => ({
      metadata: { eventGroupMetadataDescriptor: descriptor, metadata },
    });
    const bad: Json[] = [
      await sealed(Uint8Array.of(0xff)),
      await sealed(packed(descriptor)),
      await sealed(packed(`${descriptor}-none`)),
      { ciphertext: 'AAAA', typeUrl: EVENT_GROUP_METADATA_TYPE_URL },
      readable(7),
      readable('text'),
      readable([]),
      readable({ '@type': 7 }),
      readable({ typeUrl: 'x', value: '***' }),
      readable({ '@type': 'type.googleapis.com/shows.Episode', a: { b: 1 } }),
    ];
    const group = (i: number) => ({
      name: `${ACME}/eventGroups/g${i}`,
      measurementConsumer: ACME,
      state: 'ACTIVE',
    });
    const groups = [
      ...bad.map((encryptedMetadata, i) => ({ ...group(i), encryptedMetadata })),
      group(bad.length),
    ];
    const descriptors: (() => Json)[] = [
      () => ({ name: descriptor, descriptorSet: 7, state: 'ACTIVE' }),
      () => ({ name: descriptor, descriptorSet: '***' }),
      () => ({ name: descriptor, descriptorSet: toBase64(new TextEncoder().encode('not protobuf')) }),
      () => new Response('<h1>Too large</h1>', { status: 413 }),
      () => new Response('{}', { ...json, status: 500 }),
      () => new Response('', { status: 302, headers: { location: 'http://elsewhere.test/' } }),
    ];
    for (const reply of descriptors) {
      x.tell((e) => (e.path.includes('Descriptors/') ? reply() : { eventGroups: groups }));
      const listed = await Array.fromAsync(consumerOf(x).listEventGroups());
      expect(listed.map(({ eventGroup }) => eventGroup.name)).toEqual(groups.map(({ name }) => name));
      expect(listed.map(({ error }) => error?.name ?? 'none')).toEqual([
        ...bad.map(() => 'MetadataUnreadable'),
        'none',
      ]);
    }
  });
});
