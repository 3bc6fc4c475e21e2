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

describe('the results of a measurement', () => {
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

  it('are rejected if a bit of a ciphertext was flipped', async () => {
    const flipped = (entry: Results[number]) => {
      const ciphertext = Uint8Array.from(entry.encryptedResult.ciphertext);
      ciphertext[ciphertext.length - 1]! ^= 1;
      return { ...entry, encryptedResult: { ...entry.encryptedResult, ciphertext } };
    };
    expect(await altered((a, b) => [a, flipped(b)])).toBe(`DECRYPTION_FAILED ${w.chirper.name}`);
  });

  it('are rejected if the ciphertexts of two data providers were swapped', async () => {
    const swapped = altered((a, b) => [
      { ...a, encryptedResult: b.encryptedResult },
      { ...b, encryptedResult: a.encryptedResult },
    ]);
    expect(await swapped).toMatch(/^SIGNATURE_INVALID /);
  });

  it('are rejected if one is repeated, if one is missing, and if all are missing', async () => {
    expect(await altered((a) => [a, a])).toBe(`SIGNER_REPEATED ${w.streamly.name}`);
    expect(await altered((a) => [a])).toBe(`SIGNER_MISSING ${w.chirper.name}`);
    expect(await altered(() => [])).toMatch(/^SIGNER_MISSING /);
  });

  it('are rejected if one is signed by a data provider that is not part of the measurement', async () => {
    const [foreign] = (await measured(w, asking(w, 'reach', w.dailynews), [w.dailynews, reach(1n)])).results!;
    const rejected = `SIGNER_FOREIGN ${w.dailynews.name}`;
    expect(await altered((a) => [a, foreign!])).toBe(rejected);
    // Add the foreign result to a complete set of results. It must be rejected there as well.
    expect(await altered((a, b) => [a, b, foreign!])).toBe(rejected);
    expect(await altered((a, b) => [foreign!, a, b])).toBe(rejected);
  });

  it('are rejected if the named certificate does not belong to the signing key', async () => {
    const { name } = await w.consumer.create(asking(w));
    await fulfillWith(w.streamly, name!, reach(1n), { privateKeyPem: w.chirper.privateKeyPem });
    expect(await fault(await w.consumer.wait(name!))).toBe(`SIGNATURE_INVALID ${w.streamly.name}`);
  });

  it('are rejected if the named certificate does not exist', async () => {
    const certificate = `${w.streamly.name}/certificates/none`;
    expect(await altered((a, b) => [{ ...a, certificate }, b])).toBe(
      `CERTIFICATE_MISSING ${w.streamly.name}`,
    );
  });

  it('are rejected if they are of another measurement type', async () => {
    const { name } = await w.consumer.create(asking(w, 'reach', w.streamly));
    await fulfillWith(w.streamly, name!, impression(9n));
    expect(await fault(await w.consumer.wait(name!))).toBe(`RESULT_TYPE_MISMATCH ${w.streamly.name}`);
  });

  it('are rejected if they are of another measurement of the same type and provider', async () => {
    const [other] = (await measured(w, asking(w), [w.streamly, reach(31n)])).results!;
    expect(await altered((_a, b) => [other!, b])).toBe(`NO_MATCHING_KEY ${w.streamly.name}`);
  });

  it.each<[string, string, Parameters<typeof fulfillWith>[3]]>([
    ['a malformed signed message', 'MESSAGE_MALFORMED', { seal: () => Uint8Array.of(0xff, 1, 2) }],
    ['no bytes', 'MESSAGE_MALFORMED', { seal: () => new Uint8Array(0) }],
    ['a malformed result', 'RESULT_MALFORMED', { bytes: Uint8Array.of(0xff, 0xff) }],
    ['truncated JSON', 'RESULT_MALFORMED', { bytes: new TextEncoder().encode('{"reach": ') }],
    ['an empty JSON object', 'RESULT_TYPE_MISMATCH', { bytes: new TextEncoder().encode('{}') }],
  ])('are rejected if they contain %s', async (_what, code, otherwise) => {
    const { name } = await w.consumer.create(asking(w));
    await fulfillWith(w.streamly, name!, reach(1n), otherwise);
    expect(await fault(await w.consumer.wait(name!))).toBe(`${code} ${w.streamly.name}`);
  });

  it('are rejected if they were encrypted for another key', async () => {
    const { publicKeyset } = await createEncryptionKeysets();
    const { name } = await w.consumer.create(asking(w));
    await fulfillWith(w.streamly, name!, reach(1n), { keyset: publicKeyset });
    expect(await fault(await w.consumer.wait(name!))).toBe(`NO_MATCHING_KEY ${w.streamly.name}`);
  });

  it('are rejected if no trusted root issued the certificate, and once the certificate is on hold', async () => {
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

  it('are opened with a former key, and rejected without it', async () => {
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

  it('are rejected with RESULT_ABSENT if the content of the measurement was removed', async () => {
    const { name, state } = measurement;
    const removed = { name: name!, state, deleteTime: '2026-01-01T00:00:00.000000Z' };
    await expect(w.consumer.open(removed)).rejects.toMatchObject({
      code: 'RESULT_ABSENT',
      message: expect.stringContaining('was removed on 2026-01-01'),
    });
  });

  it('are rejected if they come from duchies that the consumer does not accept', async () => {
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
