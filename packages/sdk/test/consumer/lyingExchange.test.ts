/** Tests that a dishonest exchange cannot make a consumer accept false results or reveal data to the wrong party. */
import { createSigner, decrypt, encrypt, nonceHash, packSignedMessage } from '@measurement-exchange/consent';
import { fromBase64, type Measurement, TYPE_URLS } from '@measurement-exchange/contract';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readRequest } from '../../src/consumer/readRequest.ts';
import { encodeMeasurementSpec, encodeRequisitionSpec } from '../../src/consumer/specs.ts';
import { createIdentity, createRoot } from '../../src/identity/index.ts';
import { type Consumer, createConsumer, createTrustStore, type MeasurementRequest } from '../../src/index.ts';
import {
  ACME,
  asking,
  CHIRPER,
  consumerOf,
  DAILYNEWS,
  type Exchanged,
  failure,
  honest,
  type Json,
  type LyingExchange,
  reach,
  STREAMLY,
  startLyingExchange,
} from './lyingExchange.ts';

const SECRET = 'person.id == "the secret filter"';

/**
 * Returns the names of the parties that can decrypt the requisition specs sent to the exchange. A party that can
 * decrypt several of these specs is listed once for each spec.
 */
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

describe('a consumer that requests a measurement from a lying exchange', () => {
  const chirpersParty = (x: LyingExchange) => (e: Exchanged) =>
    e.path === STREAMLY ? x.resources.get(CHIRPER) : e.reply;
  const chirpersPartyRenamed = (x: LyingExchange) => (e: Exchanged) =>
    e.path === STREAMLY ? { ...x.resources.get(CHIRPER), name: STREAMLY } : e.reply;
  /** Serves every resource of Chirper under the name of Streamly. */
  const chirpersAsStreamlys = (x: LyingExchange) => (e: Exchanged) =>
    e.path.startsWith(STREAMLY)
      ? JSON.parse(
          JSON.stringify(x.resources.get(e.path.replace(STREAMLY, CHIRPER))).replaceAll(CHIRPER, STREAMLY),
        )
      : e.reply;
  const lies: [string, typeof chirpersParty][] = [
    ['the exchange returns another provider', chirpersParty],
    ['the exchange returns another provider under the requested name', chirpersPartyRenamed],
    [
      'the exchange returns another provider, its certificate and its key under the requested names',
      chirpersAsStreamlys,
    ],
  ];

  it.each(lies)('encrypts nothing if %s', async (_what, lie) => {
    const x = await startLyingExchange();
    x.tell(lie(x));
    expect(await failure(consumerOf(x).create(asking(SECRET, STREAMLY)))).toBe(
      'DataProviderUntrusted CERTIFICATE_OF_ANOTHER_PARTY',
    );
    expect(await readersOf(x)).toEqual([]);
  });

  it.each(lies)('encrypts nothing more if %s and all certificates have the same root', async (_what, lie) => {
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

describe('a consumer of a lying exchange', () => {
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

  it('opens an unchanged measurement, also with another consumer instance', async () => {
    const { total, dataProviders } = await consumerOf(x).open(one);
    expect(total.reach!.bounds).toEqual([100, 150]);
    expect(dataProviders.map(({ name }) => name).sort()).toEqual([CHIRPER, STREAMLY]);
    const request = await consumerOf(x).open(one, { request: ONE });
    expect(request.total.reach!.bounds).toEqual([100, 150]);
  });

  it('rejects a measurement without one of its providers and its result', async () => {
    const results = one.results!.filter(({ certificate }) => !certificate.startsWith(CHIRPER));
    const dataProviders = without(one.dataProviders, CHIRPER);
    expect(await opened({ results, dataProviders })).toMatch(/^ResultRejected /);
  });

  it('rejects a measurement in which one provider was replaced by another', async () => {
    const replaced = {
      ...without(one.dataProviders, CHIRPER),
      [DAILYNEWS]: one.dataProviders![CHIRPER]!,
    } as Measurement['dataProviders'];
    const [ofStreamly] = one.results!.filter(({ certificate }) => certificate.startsWith(STREAMLY));
    // Let Daily News cooperate with the exchange: it signs a result of a measurement for which it was not asked. The
    // consumer trusts Daily News's root, so the signature is valid.
    const { certificate, encryptedResult } = await x.signedResult(one.name!, DAILYNEWS, reach(9n));
    const { ciphertext, typeUrl } = encryptedResult;
    const ofDailyNews = {
      certificate,
      encryptedResult: { ciphertext: fromBase64(ciphertext)!, typeUrl },
    };
    expect(await opened({ dataProviders: replaced!, results: [ofStreamly!, ofDailyNews] })).toBe(
      'ResultRejected SPEC_FOREIGN',
    );
  });

  it('rejects a spec that was altered, or that has the signature of another spec', async () => {
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

  it('rejects the spec of another measurement', async () => {
    expect(await opened({ measurementSpec: other.measurementSpec! })).toMatch(/^ResultRejected /);
  });

  it('rejects another measurementReferenceId', async () => {
    expect(await opened({ measurementReferenceId: 'job 8' })).toMatch(/^ResultRejected /);
  });

  it('rejects results of another measurement of the same consumer, type and providers', async () => {
    expect(await opened({ results: other.results! })).toBe('ResultRejected NO_MATCHING_KEY');
    const mixed = one.results!.map((result) =>
      result.certificate.startsWith(CHIRPER)
        ? other.results!.find(({ certificate }) => certificate.startsWith(CHIRPER))!
        : result,
    );
    expect(await opened({ results: mixed })).toBe('ResultRejected NO_MATCHING_KEY');
  });

  it('rejects an extra result in addition to the valid ones', async () => {
    const extra = { ...one.results![0]!, certificate: `${DAILYNEWS}/certificates/c1` };
    expect(await opened({ results: [...one.results!, extra] })).toBe('ResultRejected SIGNER_FOREIGN');
  });

  it('rejects a measurement under the name of another if it knows the request', async () => {
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

  it('opens a measurement that uses its long-lived key, and rejects changed providers or a changed spec signature', async () => {
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

  it('opens a measurement that it signed with an earlier certificate, and rejects an invalid signature', async () => {
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

  it('rejects a create response with another measurement or with the name of another consumer', async () => {
    x.tell((e) => (e.method === 'POST' ? x.resources.get(other.name!) : e.reply));
    expect(await failure(consumer.create(ONE))).toBe('UnexpectedResponse');
    x.tell((e) =>
      e.method === 'POST' ? { ...e.reply, name: 'measurementConsumers/globex/measurements/m' } : e.reply,
    );
    expect(await failure(consumer.create(ONE))).toBe('UnexpectedResponse');
  });

  it('rejects another measurement as the existing one of its requestId', async () => {
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
