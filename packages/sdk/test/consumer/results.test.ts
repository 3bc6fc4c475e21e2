import type { Measurement } from '@measurement-exchange/contract';
import {
  asking,
  fulfillWith,
  impression,
  measured,
  type Party,
  reach,
  useWorld,
} from '@measurement-exchange/testkit/world';
import { beforeAll, describe, expect, it } from 'vitest';
import { createEncryptionKeysets, createRoot, issueLeaf } from '../../src/identity/index.ts';
import { createConsumer, createTrustStore, ResultRejected } from '../../src/index.ts';

const w = useWorld();

/** The privacy parameters that protect the values that the aggregator sees during the computation. */
const HIDING = { epsilon: 0.1, delta: 1e-9 };

describe('results that are not what they should be', () => {
  let measurement: Measurement;
  beforeAll(async () => {
    const asked = asking(w, 'reach', w.streamly, w.chirper);
    measurement = await measured(w, asked, [w.streamly, reach(100n)], [w.chirper, reach(50n)]);
  });

  type Results = NonNullable<Measurement['results']>;
  const fault = async (opened: Measurement, consumer = w.consumer) => {
    const error = await consumer.open(opened).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ResultRejected);
    const { code, signer } = error as ResultRejected;
    return signer === undefined ? code : `${code} ${signer}`;
  };
  /** Returns the fault that the consumer finds after the exchange changes the results. */
  const altered = (change: (ofStreamly: Results[number], ofChirper: Results[number]) => Results) => {
    const by = (party: Party) => measurement.results!.find((r) => r.certificate === party.certificate)!;
    return fault({ ...measurement, results: change(by(w.streamly), by(w.chirper)) });
  };

  it('are rejected when a bit of the ciphertext is another', async () => {
    const flipped = (entry: Results[number]) => {
      const ciphertext = Uint8Array.from(entry.encryptedResult.ciphertext);
      ciphertext[ciphertext.length - 1]! ^= 1;
      return { ...entry, encryptedResult: { ...entry.encryptedResult, ciphertext } };
    };
    expect(await altered((a, b) => [a, flipped(b)])).toBe(`DECRYPTION_FAILED ${w.chirper.name}`);
  });

  it('are rejected when they changed places', async () => {
    const swapped = altered((a, b) => [
      { ...a, encryptedResult: b.encryptedResult },
      { ...b, encryptedResult: a.encryptedResult },
    ]);
    expect(await swapped).toMatch(/^SIGNATURE_INVALID /);
  });

  it('are rejected when one stands for two, when one is missing, and when there are none', async () => {
    expect(await altered((a) => [a, a])).toBe(`SIGNER_REPEATED ${w.streamly.name}`);
    expect(await altered((a) => [a])).toBe(`SIGNER_MISSING ${w.chirper.name}`);
    expect(await altered(() => [])).toMatch(/^SIGNER_MISSING /);
  });

  it('are rejected when somebody signed who was not asked', async () => {
    const [foreign] = (await measured(w, asking(w, 'reach', w.dailynews), [w.dailynews, reach(1n)])).results!;
    const rejected = `SIGNER_FOREIGN ${w.dailynews.name}`;
    expect(await altered((a) => [a, foreign!])).toBe(rejected);
    // Add the foreign result to a complete set of results. It must be rejected there as well.
    expect(await altered((a, b) => [a, b, foreign!])).toBe(rejected);
    expect(await altered((a, b) => [foreign!, a, b])).toBe(rejected);
  });

  it('are rejected when the certificate named is not of the key that signed', async () => {
    const { name } = await w.consumer.create(asking(w));
    await fulfillWith(w.streamly, name!, reach(1n), { privateKeyPem: w.chirper.privateKeyPem });
    expect(await fault(await w.consumer.wait(name!))).toBe(`SIGNATURE_INVALID ${w.streamly.name}`);
  });

  it('are rejected when the certificate is not there', async () => {
    const certificate = `${w.streamly.name}/certificates/none`;
    expect(await altered((a, b) => [{ ...a, certificate }, b])).toBe(
      `CERTIFICATE_MISSING ${w.streamly.name}`,
    );
  });

  it('are rejected when they answer another kind of measurement', async () => {
    const { name } = await w.consumer.create(asking(w, 'reach', w.streamly));
    await fulfillWith(w.streamly, name!, impression(9n));
    expect(await fault(await w.consumer.wait(name!))).toBe(`RESULT_TYPE_MISMATCH ${w.streamly.name}`);
  });

  it('are rejected when they are of another measurement of the same type and provider', async () => {
    const [other] = (await measured(w, asking(w), [w.streamly, reach(31n)])).results!;
    expect(await altered((_a, b) => [other!, b])).toBe(`NO_MATCHING_KEY ${w.streamly.name}`);
  });

  it.each<[string, string, Parameters<typeof fulfillWith>[3]]>([
    ['no signed message', 'MESSAGE_MALFORMED', { seal: () => Uint8Array.of(0xff, 1, 2) }],
    ['nothing in them', 'MESSAGE_MALFORMED', { seal: () => new Uint8Array(0) }],
    ['no result', 'RESULT_MALFORMED', { bytes: Uint8Array.of(0xff, 0xff) }],
    ['half a result', 'RESULT_MALFORMED', { bytes: new TextEncoder().encode('{"reach": ') }],
    ['another result', 'RESULT_TYPE_MISMATCH', { bytes: new TextEncoder().encode('{}') }],
  ])('are rejected with %s in them', async (_what, code, otherwise) => {
    const { name } = await w.consumer.create(asking(w));
    await fulfillWith(w.streamly, name!, reach(1n), otherwise);
    expect(await fault(await w.consumer.wait(name!))).toBe(`${code} ${w.streamly.name}`);
  });

  it('are rejected when they were encrypted for somebody else', async () => {
    const { publicKeyset } = await createEncryptionKeysets();
    const { name } = await w.consumer.create(asking(w));
    await fulfillWith(w.streamly, name!, reach(1n), { keyset: publicKeyset });
    expect(await fault(await w.consumer.wait(name!))).toBe(`NO_MATCHING_KEY ${w.streamly.name}`);
  });

  it('are rejected when nobody vouches for the certificate, and once it is revoked', async () => {
    const stranger = await createRoot('Stranger', Date.now());
    const { name } = await w.consumer.create(asking(w));
    const { der, privateKeyPem } = await issueLeaf(w.root, 'Streamly again', Date.now(), {
      party: w.streamly.name,
    });
    const { name: certificate } = await w.streamly.client.createCertificate({
      parent: w.streamly.name,
      body: { x509Der: der },
    });
    await fulfillWith(w.streamly, name!, reach(5n), { certificate: certificate!, privateKeyPem });
    const opened = await w.consumer.wait(name!);
    expect((await w.consumer.open(opened)).dataProviders).toMatchObject([{ reach: { value: 5 } }]);

    const wary = createConsumer({
      client: w.acme.client,
      credentials: w.acme,
      trust: createTrustStore([{ pem: stranger.certificatePem }]),
    });
    expect(await fault(opened, wary)).toBe(`CERTIFICATE_UNTRUSTED ${w.streamly.name}`);
    await w.streamly.client.revokeCertificate({ name: certificate!, body: { revocationState: 'HOLD' } });
    expect(await fault(opened)).toBe(`CERTIFICATE_REVOKED ${w.streamly.name}`);
  });

  it('open with a key that was in use before, and not without it', async () => {
    const { publicKeyset, privateKeyset } = await createEncryptionKeysets();
    const { client } = w.acme;
    const credentials = { ...w.acme, encryptionPublicKey: publicKeyset, encryptionPrivateKey: privateKeyset };
    expect(await fault(measurement, createConsumer({ client, trust: w.trust, credentials }))).toMatch(
      'SPEC_FOREIGN',
    );
    const former = [w.acme.encryptionPrivateKey];
    const rotated = createConsumer({
      client,
      trust: w.trust,
      credentials,
      formerEncryptionPrivateKeys: former,
    });
    expect((await rotated.open(measurement)).total.reach!.bounds).toEqual([100, 150]);
  });

  it('of a measurement whose content was removed are gone', async () => {
    const { name, state } = measurement;
    const removed = { name: name!, state, deleteTime: '2026-01-01T00:00:00.000000Z' };
    await expect(w.consumer.open(removed)).rejects.toMatchObject({
      code: 'RESULT_ABSENT',
      message: expect.stringContaining('was removed on 2026-01-01'),
    });
  });

  it('are not opened when duchies computed them', async () => {
    const reachOnlyLiquidLegionsV2 = {
      ...{
        workers: ['duchies/a', 'duchies/b'],
        aggregator: 'duchies/c',
        noiseMechanism: 'GEOMETRIC' as const,
      },
      ...{ decayRate: 12, maxSize: 1000, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
    };
    const protocolConfig = { reachOnlyLiquidLegionsV2 };
    expect(await fault({ ...measurement, protocolConfig })).toBe('DUCHY_UNKNOWN');
  });
});
