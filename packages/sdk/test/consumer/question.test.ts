/**
 * Tests the question that a consumer stores with its measurement. Only this consumer can read the question, and no
 * other party can forge it.
 */
import {
  createSigner,
  decrypt,
  encrypt,
  packSignedMessage,
  unpackEncryptionPublicKey,
  unpackSignedMessage,
} from '@measurement-exchange/consent';
import { decodeMeasurementSpec, type Measurement, TYPE_URLS } from '@measurement-exchange/contract';
import { stored } from '@measurement-exchange/testkit/steps';
import { INTERVAL, PRIVACY, useWorld } from '@measurement-exchange/testkit/world';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createIdentity } from '../../src/identity/index.ts';
import {
  type Consumer,
  createConsumer,
  createTrustStore,
  findResultKeyset,
  type MeasurementRequest,
} from '../../src/index.ts';
import {
  ACME,
  asking,
  CHIRPER,
  consumerOf,
  failure,
  honest,
  type LyingExchange,
  reach,
  STREAMLY,
  startLyingExchange,
} from './lyingExchange.ts';

describe('the stored question of a measurement', () => {
  const w = useWorld();
  const TITLE = 'Spring campaign “Ümläut”, women over thirty';
  const FILTER = 'person.age > 30 && person.gender == "FEMALE"';
  const request = (): MeasurementRequest => ({
    type: 'impression',
    title: TITLE,
    privacy: PRIVACY,
    maximumFrequencyPerUser: 5,
    referenceId: 'reference in clear',
    requestId: 'title',
    dataProviders: [
      {
        name: w.streamly.name,
        eventGroups: [
          { name: `${w.acme.name}/eventGroups/tv`, interval: { ...INTERVAL, end: new Date(INTERVAL.end) } },
          { name: `${w.streamly.name}/eventGroups/web`, interval: INTERVAL, filter: FILTER },
        ],
      },
    ],
  });

  it('contains the request, and the database and logs have neither its title nor its filter in plain text', async () => {
    const { name } = await w.consumer.create(request());
    const measurement = await w.acme.client.getMeasurement({ name: name! });
    const another = createConsumer({ client: w.acme.client, credentials: w.acme, trust: w.trust });
    const interval = { start: '2026-01-01T00:00:00.000000Z', end: '2026-02-01T00:00:00.000000Z' };
    const { requestId, ...asked } = request();
    expect(await another.question(measurement)).toEqual({
      ...asked,
      dataProviders: [
        {
          name: w.streamly.name,
          eventGroups: [
            { name: `${w.streamly.name}/eventGroups/tv`, interval },
            { name: `${w.streamly.name}/eventGroups/web`, interval, filter: FILTER },
          ],
        },
      ],
    });
    const everything = JSON.stringify(await stored(w.exchange)) + (await w.exchange.logs()).join();
    const forms = (text: string) => [
      ...[text, JSON.stringify(text).slice(1, -1), JSON.stringify(JSON.stringify(text)).slice(3, -3)],
      ...[Buffer.from(text).toString('hex'), Buffer.from(text).toString('base64').slice(0, -4)],
    ];
    for (const form of forms('reference in clear').slice(0, 1)) expect(everything).toContain(form);
    for (const form of [...forms(TITLE), ...forms(FILTER), ...forms('person.age')]) {
      expect(everything).not.toContain(form);
    }
    const { ciphertext } = measurement.encryptedQuestion!;
    for (const { encryptionPrivateKey } of [w.acme, w.streamly, w.chirper]) {
      await expect(decrypt(encryptionPrivateKey, ciphertext)).rejects.toThrow();
    }
  });

  it('is part of the request: another title with the same requestId is rejected', async () => {
    const created = await w.consumer.create(request());
    expect((await w.consumer.create(request())).name).toBe(created.name);
    await expect(w.consumer.create({ ...request(), title: 'Fall' })).rejects.toMatchObject({
      reason: 'REQUEST_ID_REUSED',
    });
  });

  it('is not stored if it is too long, and its title must have 1 to 200 characters', async () => {
    const { requestId, ...asked } = request();
    const [provider] = asked.dataProviders;
    const [group] = provider!.eventGroups!;
    // Use three filters to exceed the limit of 64 KiB for a question, because a single filter has at most 32,768
    // characters.
    const eventGroups = ['a', 'b', 'c'].map((id) => ({
      ...group!,
      name: `${provider!.name}/eventGroups/${id}`,
      filter: `name == "${'x'.repeat(24_000)}"`,
    }));
    const measurement = await w.consumer.create({
      ...asked,
      dataProviders: [{ ...provider!, eventGroups }],
    });
    expect(measurement).not.toHaveProperty('encryptedQuestion');
    expect(await w.consumer.question(measurement)).toBeUndefined();
    for (const title of ['', 'x'.repeat(201)]) {
      await expect(w.consumer.create({ ...asked, title })).rejects.toMatchObject({
        violations: [{ field: 'title' }],
      });
    }
  });
});

describe('a stored question from a lying exchange', () => {
  let x: LyingExchange;
  let consumer: Consumer;
  let one: Measurement;
  let other: Measurement;
  /** The signed plaintext of the other measurement's question. The tests assume that it leaked to the exchange. */
  let leaked: Uint8Array;

  beforeAll(async () => {
    x = await startLyingExchange();
    consumer = consumerOf(x);
    one = await consumer.create({ ...asking('a', STREAMLY), title: 'one' });
    other = await consumer.create({ ...asking('a', STREAMLY), title: 'other' });
    leaked = await decrypt((await findResultKeyset(x.of(ACME), other))!, other.encryptedQuestion!.ciphertext);
  });
  beforeEach(() => x.tell(honest));

  const resultKey = (measurement: Measurement) => {
    const decoded = decodeMeasurementSpec(measurement.measurementSpec!.message);
    if ('error' in decoded) throw new Error(decoded.error);
    return unpackEncryptionPublicKey(decoded.spec.measurementPublicKey!.value);
  };
  const typeUrl = TYPE_URLS.MeasurementQuestion;
  const withQuestion = (ciphertext: Uint8Array, more: Partial<Measurement> = {}) =>
    failure(consumer.question({ ...one, ...more, encryptedQuestion: { ciphertext, typeUrl } }));
  const sealed = async (plaintext: Uint8Array, more: Partial<Measurement> = {}) =>
    withQuestion(await encrypt(resultKey(one), plaintext), more);
  /** Signs the leaked question of the other measurement with this key. */
  const signedWith = async (privateKeyPem: string) => {
    const { message } = unpackSignedMessage(leaked);
    return packSignedMessage(await (await createSigner(privateKeyPem)).sign(message), typeUrl);
  };

  it('is read per measurement, and can be missing without preventing open()', async () => {
    expect(await consumer.question(one)).toMatchObject({ title: 'one' });
    expect(await consumer.question(other)).toMatchObject({ title: 'other' });
    const { encryptedQuestion, ...dropped } = one;
    expect(await consumer.question(dropped)).toBeUndefined();
    await x.fulfill(one.name!, STREAMLY, reach(3n));
    const { encryptedQuestion: _, ...done } = await consumer.wait(one.name!);
    expect((await consumer.open(done)).dataProviders).toMatchObject([{ reach: { value: 3 } }]);
  });

  it('is rejected if it was swapped or altered', async () => {
    expect(await withQuestion(other.encryptedQuestion!.ciphertext)).toBe('QuestionRejected NO_MATCHING_KEY');
    const ciphertext = Uint8Array.from(one.encryptedQuestion!.ciphertext);
    ciphertext[ciphertext.length - 1]! ^= 1;
    expect(await withQuestion(ciphertext)).toBe('QuestionRejected DECRYPTION_FAILED');
  });

  it('is rejected if it was encrypted again for another measurement, although it is signed', async () => {
    expect(await sealed(leaked)).toBe('QuestionRejected QUESTION_OF_ANOTHER');
  });

  it('is rejected if another party signed it, even with a forged certificate from the exchange', async () => {
    const chirpers = await signedWith(x.of(CHIRPER).privateKeyPem);
    expect(await sealed(chirpers)).toBe('QuestionRejected QUESTION_FOREIGN');
    const measurementConsumerCertificate = `${ACME}/certificates/earlier`;
    // The exchange issues a certificate in the consumer's name under the exchange's own root.
    const forged = await createIdentity({ party: ACME, commonName: 'acme', now: Date.now(), days: 30 });
    x.tell((e) =>
      e.path === measurementConsumerCertificate
        ? {
            ...x.resources.get(x.of(ACME).certificate),
            x509Der: forged.certificatePem.replace(/-----[^-]+-----|\s/g, ''),
          }
        : e.reply,
    );
    const invented = await signedWith(forged.privateKeyPem);
    expect(await sealed(invented, { measurementConsumerCertificate })).toMatch(
      /^QuestionRejected CERTIFICATE_(UNTRUSTED|NOT_ISSUED_BY_ROOT)$/,
    );
  });

  it('is rejected if it is a result, a measurement spec, or an empty question', async () => {
    const { encryptedResult } = await x.signedResult(one.name!, STREAMLY, reach(1n));
    const ciphertext = new Uint8Array(Buffer.from(encryptedResult.ciphertext, 'base64'));
    expect(await withQuestion(ciphertext)).toBe('QuestionRejected QUESTION_FOREIGN');
    const signer = await createSigner(x.of(ACME).privateKeyPem);
    // Try the measurement spec as a question. The consumer signed the spec too, and every provider knows its bytes.
    expect(await sealed(packSignedMessage(one.measurementSpec!, typeUrl))).toBe(
      'QuestionRejected QUESTION_MALFORMED',
    );
    for (const text of ['{}', 'null', '{"question":{}}']) {
      const signed = await signer.sign(new TextEncoder().encode(text));
      expect(await sealed(packSignedMessage(signed, typeUrl))).toBe('QuestionRejected QUESTION_MALFORMED');
    }
  });

  it('is rejected with the spec of another measurement or with another measurementReferenceId', async () => {
    const { ciphertext } = one.encryptedQuestion!;
    expect(await withQuestion(ciphertext, { measurementSpec: other.measurementSpec! })).toBe(
      'QuestionRejected NONCES_MISMATCH',
    );
    expect(await withQuestion(ciphertext, { measurementReferenceId: 'job 8' })).toBe(
      'QuestionRejected SPEC_FOREIGN',
    );
  });

  it('is accepted with an earlier, even expired, certificate as long as its root is trusted', async () => {
    const { identity, ...credentials } = x.of(ACME);
    const { root, keysets } = identity;
    const renewed = await createIdentity({
      party: ACME,
      commonName: 'a',
      now: Date.now(),
      days: 30,
      root,
      keysets,
    });
    const later = (trusted: string[], days: number) =>
      createConsumer({
        client: x.client(),
        credentials: {
          ...credentials,
          certificate: `${ACME}/certificates/c2`,
          privateKeyPem: renewed.privateKeyPem,
        },
        trust: createTrustStore(
          trusted.map((party) => ({ party, pem: x.of(party).identity.root.certificatePem })),
        ),
        clock: { now: () => Date.now() + days * 86_400_000, sleep: async () => {} },
      });
    // The earlier certificate is valid for 30 days, so it has expired in the second case.
    for (const days of [0, 60]) {
      expect(await later([ACME, STREAMLY], days).question(one)).toMatchObject({ title: 'one' });
    }
    expect(await failure(later([STREAMLY], 0).question(one))).toBe('QuestionRejected CERTIFICATE_UNTRUSTED');
  });
});
