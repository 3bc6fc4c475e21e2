import { decodeMeasurementSpec, ExchangeError, type Measurement } from '@measurement-exchange/contract';
import {
  asking,
  events,
  frequency,
  fulfillWith,
  INTERVAL,
  impression,
  measured,
  type Party,
  PRIVACY,
  population,
  type ResultInit,
  reach,
  readRequisition,
  requisitionOf,
  useWorld,
  watchDuration,
} from '@measurement-exchange/testkit/world';
import { describe, expect, it } from 'vitest';
import { createEncryptionKeysets, createRoot, signEncryptionKey } from '../../src/identity/index.ts';
import {
  createConsumer,
  createTrustStore,
  type MeasurementRequest,
  noiseVariance,
  nonceMatches,
  parseCertificate,
  verifySignature,
} from '../../src/index.ts';
import { verifyRequisition } from '../../src/provider/verify.ts';

const w = useWorld();

async function findings(measurement: Measurement): Promise<string[]> {
  const steps = await Array.fromAsync(w.acme.client.getMeasurementTimeline({ name: measurement.name! }));
  return steps.flatMap((row) => (row.findings ?? []).map(({ code }) => code));
}

async function measurementCount(): Promise<number> {
  const [row] = await w.exchange.database.query('SELECT count(*)::int AS n FROM measurements');
  return row!.n as number;
}

describe('a measurement, end to end under strict checks', () => {
  it('of reach returns a figure per data provider and bounds of the total', async () => {
    const asked = { ...asking(w, 'reach', w.streamly, w.chirper), vidSampling: { start: 0, width: 0.5 } };
    const measurement = await measured(w, asked, [w.streamly, reach(120_000n)], [w.chirper, reach(80_000n)]);
    expect(await findings(measurement)).toEqual(['REACH_NOT_DEDUPLICATED']);
    const result = await w.consumer.open(measurement);
    const noise = noiseVariance('GEOMETRIC', PRIVACY);
    expect(result).toMatchObject({ measurement: measurement.name, type: 'reach' });
    expect(byName(result)).toMatchObject({
      [w.streamly.name]: {
        reach: { value: 120_000, variance: 120_000 + noise * 4 },
        noiseMechanism: 'GEOMETRIC',
        methodology: 'deterministicCountDistinct',
      },
      [w.chirper.name]: { reach: { value: 80_000, variance: 80_000 + noise * 4 } },
    });
    expect(result.total).toEqual({ reach: { bounds: [120_000, 200_000], note: expect.any(String) } });
  });

  it('of reach and frequency returns the share and count of each frequency', async () => {
    const asked: MeasurementRequest = { ...asking(w), type: 'reachAndFrequency', maximumFrequency: 3 };
    const shares = { '1': 0.5, '2': 0.25, '3': 0.25 };
    const measurement = await measured(w, asked, [w.streamly, { ...reach(1000n), ...frequency(shares) }]);
    expect(await findings(measurement)).toEqual([]);
    const { type, dataProviders, total } = await w.consumer.open(measurement);
    expect(type).toBe('reachAndFrequency');
    expect(dataProviders[0]!.frequency!.map((f) => [f.frequency, f.share.value, f.count.value])).toEqual([
      [1, 0.5, 500],
      [2, 0.25, 250],
      [3, 0.25, 250],
    ]);
    expect(dataProviders[0]).toMatchObject({
      noiseMechanism: 'GEOMETRIC',
      frequencyNoiseMechanism: 'DISCRETE_GAUSSIAN',
    });
    expect(total.reach!.bounds).toEqual([1000, 1000]);
  });

  it('of impressions returns the sum of the data providers', async () => {
    const asked = asking(w, 'impression', w.streamly, w.chirper, w.dailynews);
    const measurement = await measured(
      w,
      asked,
      [w.chirper, impression(200n)],
      [w.dailynews, impression(0n)],
      [w.streamly, impression(1000n)],
    );
    expect(await findings(measurement)).toEqual([]);
    const { total } = await w.consumer.open(measurement);
    expect(total.reach).toBeUndefined();
    expect(total.impressions!.value).toBe(1200);
    expect(total.impressions!.variance).toBeCloseTo(3 * noiseVariance('GEOMETRIC', PRIVACY, 10), 6);
  });

  it('of watch duration returns the sum of the data providers', async () => {
    const asked: MeasurementRequest = {
      ...asking(w, 'reach', w.streamly, w.chirper),
      type: 'duration',
      maximumWatchDurationSeconds: 12.5,
    };
    const measurement = await measured(
      w,
      asked,
      [w.streamly, watchDuration(3600n, 250_000_000)],
      [w.chirper, watchDuration(400n)],
    );
    expect(await findings(measurement)).toEqual([]);
    const { total } = await w.consumer.open(measurement);
    expect(total.watchDurationSeconds!.value).toBe(4000.25);
    const noise = noiseVariance('DISCRETE_GAUSSIAN', PRIVACY, 12_500) / 1e6;
    expect(total.watchDurationSeconds!.variance).toBeCloseTo(2 * noise, 6);
  });

  it('of a population returns a figure per data provider and no total', async () => {
    const asked: MeasurementRequest = {
      type: 'population',
      dataProviders: [w.streamly, w.chirper].map(({ name }) => ({
        name,
        population: { filter: 'person.age > 30', interval: INTERVAL },
      })),
    };
    const replies: [Party, ResultInit][] = [
      [w.streamly, population(83_000_000n)],
      [w.chirper, population(82_999_000n)],
    ];
    const measurement = await measured(w, asked, ...replies);
    expect(await findings(measurement)).toEqual([]);
    const result = await w.consumer.open(measurement);
    expect(byName(result)[w.streamly.name]!.population).toMatchObject({ value: 83_000_000, variance: 0 });
    expect(byName(result)[w.chirper.name]!.population).toMatchObject({ value: 82_999_000, variance: 0 });
    expect(result.total).toEqual({});
  });

  it('runs in one call of measure(), which reports state changes through onChange', async () => {
    const told: string[] = [];
    let answering: Promise<void> | undefined;
    const result = await w.consumer.measure(asking(w, 'reach', w.streamly), {
      pollMs: 20,
      onChange: ({ measurement, requisitions }) => {
        told.push([measurement.state, ...requisitions.map(({ state }) => state)].join(' '));
        answering ??= fulfillWith(w.streamly, measurement.name!, reach(7n));
      },
    });
    await answering;
    expect(result.dataProviders).toMatchObject([{ name: w.streamly.name, reach: { value: 7 } }]);
    // Compare only the first and the last entry. A poll in between may show a fulfilled requisition before the
    // measurement is complete.
    expect([told.at(0), told.at(-1)]).toEqual([
      'AWAITING_REQUISITION_FULFILLMENT UNFULFILLED',
      'SUCCEEDED FULFILLED',
    ]);
    expect(new Set(told).size).toBe(told.length);
  });

  it('can have a result in JSON', async () => {
    const { name } = await w.consumer.create(asking(w));
    const json = {
      reach: { value: 55, noiseMechanism: 'LAPLACE', customDirectMethodology: { variance: 4 } },
    };
    await fulfillWith(w.streamly, name!, {}, { bytes: new TextEncoder().encode(JSON.stringify(json)) });
    const { dataProviders } = await w.consumer.open(await w.consumer.wait(name!));
    expect(dataProviders).toMatchObject([
      {
        reach: { value: 55, variance: 4 },
        noiseMechanism: 'CONTINUOUS_LAPLACE',
        methodology: 'customDirectMethodology',
      },
    ]);
  });
});

describe('a requisition that a data provider receives', () => {
  it('is signed by the consumer, readable only for that provider, and bound to the measurement by its nonce', async () => {
    const asked = asking(w, 'reach', w.streamly, w.chirper);
    const { name } = await w.consumer.create(asked);
    const certificate = await w.acme.client.getCertificate({ name: w.acme.certificate });
    const x509 = parseCertificate(certificate.x509Der);
    const nonces = new Set<bigint>();
    for (const provider of [w.streamly, w.chirper]) {
      const requisition = await requisitionOf(provider, name!);
      const { signed, spec } = await readRequisition(provider, requisition);
      await verifySignature(requisition.measurementSpec!, x509);
      await verifySignature(signed, x509);
      expect(spec.requisitionType).toMatchObject({
        case: 'events',
        value: { eventGroups: [{ key: `${provider.name}/eventGroups/tv` }] },
      });
      const decoded = decodeMeasurementSpec(requisition.measurementSpec!.message);
      if ('error' in decoded) throw new Error(decoded.error);
      expect(decoded.spec.measurementPublicKey!.value).toEqual(spec.measurementPublicKey!.value);
      expect(decoded.spec.nonceHashes).toContainEqual(requisition.nonceHash);
      expect(await nonceMatches(spec.nonce, requisition.nonceHash!)).toBe(true);
      nonces.add(spec.nonce);
    }
    expect(nonces.size).toBe(2);
    const ofStreamly = await requisitionOf(w.streamly, name!);
    await expect(readRequisition(w.chirper, ofStreamly)).rejects.toMatchObject({ code: 'NO_MATCHING_KEY' });
  });
});

describe('a requisition that the consumer created', () => {
  it.each(['reach', 'reachAndFrequency', 'impression', 'duration'] as const)(
    'passes the verification of the data provider for a measurement of %s',
    async (type) => {
      const eventGroup = await w.streamly.client.createEventGroup({
        parent: w.streamly.name,
        body: { measurementConsumer: w.acme.name, eventGroupReferenceId: 'tv' },
      });
      // The consumer's name for the event group begins with the consumer's own name instead of the provider's.
      const name = eventGroup.name!.replace(w.streamly.name, w.acme.name);
      const eventGroups = [{ name, interval: INTERVAL, filter: 'a == 1' }];
      const asked: MeasurementRequest = {
        type,
        privacy: PRIVACY,
        dataProviders: [{ name: w.streamly.name, eventGroups }],
        ...(type === 'impression' && { maximumFrequencyPerUser: 3 }),
        ...(type === 'duration' && { maximumWatchDurationSeconds: 0.5 }),
      };
      const { name: measurement } = await w.consumer.create(asked);
      const verified = await verifyRequisition(await requisitionOf(w.streamly, measurement!), {
        name: w.streamly.name,
        keys: [w.streamly],
        trust: w.trust,
        fetchCertificate: (certificate) => w.streamly.client.getCertificate({ name: certificate }),
        fetchEventGroup: (group) => w.streamly.client.getEventGroup({ name: group }),
        references: 'unchecked',
        now: new Date(),
      });
      expect(verified).toMatchObject({
        measurementConsumer: w.acme.name,
        resultKeyset: expect.any(Uint8Array),
        vidSampling: { start: 0, width: 1 },
        selection: {
          events: [
            {
              reference: 'tv',
              interval: { start: new Date(INTERVAL.start), end: new Date(INTERVAL.end) },
              filter: 'a == 1',
            },
          ],
        },
      });
    },
  );
});

describe('creating a measurement', () => {
  it('rejects an invalid field by name, and creates nothing', async () => {
    const before = await measurementCount();
    const asked = { ...asking(w), privacy: { epsilon: 0, delta: 0 } };
    await expect(w.consumer.create(asked)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      violations: [{ field: 'privacy.epsilon' }],
    });
    expect(await measurementCount()).toBe(before);
  });

  it('rejects a filter that does not match the attributes of its event group, and creates nothing', async () => {
    const attributes = [
      { name: 'age', type: 'INT' },
      { name: 'gender', type: 'STRING' },
    ] as const;
    const body = {
      measurementConsumer: w.acme.name,
      eventGroupReferenceId: 'tv',
      attributes: [...attributes],
    };
    const { name } = await w.streamly.client.createEventGroup({ parent: w.streamly.name, body });
    const asked = (filter: string): MeasurementRequest => ({
      ...asking(w),
      dataProviders: [{ name: w.streamly.name, eventGroups: [{ name: name!, interval: INTERVAL, filter }] }],
    });
    const before = await measurementCount();
    await expect(w.consumer.create(asked('age > 30 && gendre == "F"'))).rejects.toMatchObject({
      name: 'FilterRejected',
      message: expect.stringMatching(/no attribute gendre.*\(line 1, column 13\)\. Did you mean gender\?$/),
      filters: [{ eventGroup: name, code: 'FILTER_ATTRIBUTE', suggestion: 'gender' }],
    });
    await expect(w.consumer.plan(asked('age == "30"'))).rejects.toMatchObject({
      filters: [{ code: 'FILTER_TYPE' }],
    });
    expect(await measurementCount()).toBe(before);
    expect((await w.consumer.create(asked('age > 30 && gender == "F"'))).state).toBeDefined();
  });

  it('with plan() creates nothing until plan.create(), which is idempotent', async () => {
    const before = await measurementCount();
    const plan = await w.consumer.plan({ ...asking(w), requestId: 'planned' });
    expect(plan).toMatchObject({ protocol: 'direct', duchies: [], findings: [], warnings: [] });
    expect(plan.rejection).toBeUndefined();
    const [{ charge, ofUsualBudget }] = plan.dataProviders as [(typeof plan.dataProviders)[number]];
    // Gaussian noise is charged in rho. The usual daily budget is 1 rho, so the share of that budget equals the charge.
    expect(ofUsualBudget).toBe(charge!.rho);
    expect(await measurementCount()).toBe(before);
    const created = await plan.create();
    expect(await measurementCount()).toBe(before + 1);
    expect((await plan.create()).name).toBe(created.name);
    const again = await w.consumer.plan({ ...asking(w), requestId: 'planned' });
    expect((await again.create()).name).toBe(created.name);
  });

  it('again with the same requestId returns the existing measurement', async () => {
    const asked = { ...asking(w), requestId: 'nightly-2026-01-31', referenceId: 'job 7' };
    const first = await w.consumer.create(asked);
    await fulfillWith(w.streamly, first.name!, reach(9n));
    const again = await w.consumer.create(asked);
    expect(again).toMatchObject({ name: first.name, state: 'SUCCEEDED', measurementReferenceId: 'job 7' });
  });

  it.each<[string, () => Partial<MeasurementRequest>]>([
    ['another budget', () => ({ privacy: { epsilon: 0.25, delta: 1e-9 } })],
    ['another type', () => ({ type: 'impression', maximumFrequencyPerUser: 2 })],
    ['another data provider', () => ({ dataProviders: events(w.chirper) })],
    ['another reference', () => ({ referenceId: 'job 8' })],
    [
      'another filter',
      () => ({
        dataProviders: events(w.streamly).map(({ eventGroups, ...rest }) => ({
          ...rest,
          eventGroups: eventGroups!.map((group) => ({ ...group, filter: 'person.age > 31' })),
        })),
      }),
    ],
  ])('with a used requestId is rejected if the request has %s', async (what, change) => {
    const asked = { ...asking(w), requestId: `taken ${what}` };
    const first = await w.consumer.create(asked);
    const error = await w.consumer.create({ ...asked, ...change() }).catch((e: unknown) => e);
    expect(error).toBeInstanceOf(ExchangeError);
    expect(error).toMatchObject({ reason: 'REQUEST_ID_REUSED', metadata: { existing: first.name } });
  });

  it('twice without a requestId creates two measurements', async () => {
    const [one, two] = [await w.consumer.create(asking(w)), await w.consumer.create(asking(w))];
    expect(one.name).not.toBe(two.name);
  });
});

describe('a data provider', () => {
  const untrusted = async (consumer = w.consumer, provider = w.dailynews) => {
    const before = await measurementCount();
    const error = await consumer.create(asking(w, 'reach', provider)).catch((e: unknown) => e);
    expect(await measurementCount()).toBe(before);
    expect(error).toMatchObject({ name: 'DataProviderUntrusted', dataProvider: provider.name });
    return (error as { code: string }).code;
  };
  const trusting = (...roots: Parameters<typeof createTrustStore>[0]) =>
    createConsumer({ client: w.acme.client, credentials: w.acme, trust: createTrustStore(roots) });

  it('is untrusted if its root is not in the trust store', async () => {
    const stranger = await createRoot('Stranger', Date.now());
    expect(await untrusted(trusting({ pem: stranger.certificatePem }), w.streamly)).toBe(
      'CERTIFICATE_UNTRUSTED',
    );
  });

  it('is untrusted if the trust store has a root for it that did not issue its certificate', async () => {
    const own = await createRoot('Daily News root', Date.now());
    const trust = [{ pem: w.root.certificatePem }, { party: w.dailynews.name, pem: own.certificatePem }];
    expect(await untrusted(trusting(...trust))).toBe('CERTIFICATE_UNTRUSTED');
  });

  it('is untrusted if its certificate has expired', async () => {
    const later = { now: () => Date.now() + 11 * 365.25 * 24 * 3600_000, sleep: async () => {} };
    const consumer = createConsumer({
      client: w.acme.client,
      credentials: w.acme,
      trust: w.trust,
      clock: later,
    });
    expect(await untrusted(consumer, w.streamly)).toBe('CERTIFICATE_EXPIRED');
  });

  it('is untrusted if its key is signed by another party, is not public, or is missing', async () => {
    // Write an invalid signature directly to the database, because the exchange's API would reject it.
    const [kept] = await w.exchange.database.query(
      'SELECT public_key, public_key_signature FROM parties WHERE name = $1',
      [w.dailynews.name],
    );
    const publish = (message: Uint8Array | null, signature: Uint8Array | null) =>
      w.exchange.database.query(
        'UPDATE parties SET public_key = $2, public_key_signature = $3 WHERE name = $1',
        [w.dailynews.name, message, signature],
      );
    const own = await createEncryptionKeysets();
    const forged = await signEncryptionKey(own.publicKeyset, w.chirper.privateKeyPem);
    await publish(forged.message, forged.signature);
    expect(await untrusted()).toBe('SIGNATURE_INVALID');
    const secret = await signEncryptionKey(own.privateKeyset, w.dailynews.privateKeyPem);
    await publish(secret.message, secret.signature);
    expect(await untrusted()).toBe('KEYSET_NOT_PUBLIC');
    await publish(null, null);
    expect(await untrusted()).toBe('PUBLIC_KEY_MISSING');
    await publish(kept!.public_key as Uint8Array, kept!.public_key_signature as Uint8Array);
  });
});

describe('a measurement without a result', () => {
  it('reports which data provider refused, and why', async () => {
    const { name } = await w.consumer.create(asking(w, 'reach', w.streamly, w.chirper));
    const requisition = await requisitionOf(w.chirper, name!);
    await w.chirper.client.refuseRequisition({
      name: requisition.name!,
      body: {
        refusal: { justification: 'UNFULFILLABLE', message: 'no such events' },
        etag: requisition.etag!,
      },
    });
    await expect(w.consumer.wait(name!)).rejects.toMatchObject({
      name: 'MeasurementFailed',
      reason: 'REQUISITION_REFUSED',
      refusedBy: { dataProvider: w.chirper.name, justification: 'UNFULFILLABLE', message: 'no such events' },
    });
  });

  it('reports that it was cancelled, and rejects open() with RESULT_ABSENT', async () => {
    const { name } = await w.consumer.create(asking(w));
    const cancelled = await w.acme.client.cancelMeasurement({ name: name! });
    await expect(w.consumer.wait(name!)).rejects.toMatchObject({ reason: 'CANCELLED' });
    await expect(w.consumer.open(cancelled)).rejects.toMatchObject({ code: 'RESULT_ABSENT' });
  });
});

function byName<T extends { name: string }>({ dataProviders }: { dataProviders: T[] }): Record<string, T> {
  return Object.fromEntries(dataProviders.map((provider) => [provider.name, provider]));
}
