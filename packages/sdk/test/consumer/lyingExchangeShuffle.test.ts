/** Tests that a dishonest exchange cannot make a consumer accept a false figure from duchies. */
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { createSigner, encrypt, nonceHash, packSignedMessage } from '@measurement-exchange/consent';
import {
  fromBase64,
  type Measurement,
  type ShareShuffleConfig,
  specs,
  TYPE_URLS,
} from '@measurement-exchange/contract';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readRequest } from '../../src/consumer/readRequest.ts';
import { encodeMeasurementSpec, encodeRequisitionSpec } from '../../src/consumer/specs.ts';
import { createRoot } from '../../src/identity/index.ts';
import type { Consumer, MeasurementRequest } from '../../src/index.ts';
import {
  ACME,
  ALPHA,
  asking,
  BETA,
  CHIRPER,
  consumerOf,
  failure,
  GAMMA,
  honest,
  type Json,
  type LyingExchange,
  MALLORY,
  type ResultInit,
  reach,
  SHARE_SHUFFLE,
  STREAMLY,
  shuffledReach,
  startLyingExchange,
} from './lyingExchange.ts';

const DUCHIES = [ALPHA, BETA, GAMMA];
const NOISE = specs.ProtocolConfig_NoiseMechanism;
const REQUEST = asking('a', STREAMLY, CHIRPER);
const FREQUENCIES: MeasurementRequest = { ...REQUEST, type: 'reachAndFrequency', maximumFrequency: 3 };
const shuffledFrequency = (people = 1_000_000n): ResultInit => ({
  ...shuffledReach(40_000n),
  frequency: {
    relativeFrequencyDistribution: { 1: 0.5, 2: 0.25, 3: 0.25 },
    noiseMechanism: NOISE.DISCRETE_GAUSSIAN,
    methodology: { case: 'honestMajorityShareShuffle', value: { frequencyVectorSize: people } },
  },
});

let x: LyingExchange;
let consumer: Consumer;
let done: Measurement;
let other: Measurement;

async function measured(request: MeasurementRequest, result: ResultInit, duchy = GAMMA) {
  const { name } = await consumer.create(request);
  await x.setResult(name!, duchy, result);
  return consumer.wait(name!);
}

beforeAll(async () => {
  x = await startLyingExchange();
  x.protocolConfig = SHARE_SHUFFLE;
  consumer = consumerOf(x, undefined, DUCHIES);
  done = await measured(REQUEST, shuffledReach(100_000n));
  other = await measured(asking('b', STREAMLY, CHIRPER), shuffledReach(7n));
});
beforeEach(() => {
  x.tell(honest);
  x.protocolConfig = SHARE_SHUFFLE;
});

type Results = NonNullable<Measurement['results']>;
const opened = (changes: Partial<Measurement>) => failure(consumer.open({ ...done, ...changes }));
const config = (changes: Partial<ShareShuffleConfig>): Pick<Measurement, 'protocolConfig'> => ({
  protocolConfig: {
    honestMajorityShareShuffle: { ...done.protocolConfig!.honestMajorityShareShuffle!, ...changes },
  },
});
/** Returns a result that this party signed for the measurement. */
async function signedBy(party: string, result: ResultInit, of = done): Promise<Results[number]> {
  const { certificate, encryptedResult } = await x.signedResult(of.name!, party, result);
  const { ciphertext, typeUrl } = encryptedResult;
  return { certificate, encryptedResult: { ciphertext: fromBase64(ciphertext)!, typeUrl } };
}

describe('a consumer that opens the result of its duchies', () => {
  it('returns one figure for all providers, with its standard deviation, its noise and its duchies', async () => {
    const { total, dataProviders } = await consumer.open(done, { request: REQUEST });
    expect(dataProviders).toEqual([{ name: STREAMLY }, { name: CHIRPER }]);
    expect(Object.keys(total)).toEqual(['deduplicated']);
    const { reach, ...how } = total.deduplicated!;
    // For epsilon 0.5 and delta 1e-9, the noise of both workers together has a standard deviation of 13.157. The
    // aggregator's noise has the same variance. Everybody is in the sample, so there is no sampling error.
    expect(reach).toMatchObject({ value: 100_000, standardDeviation: expect.closeTo(18.607, 3) });
    expect(how).toEqual({
      noiseMechanism: 'DISCRETE_GAUSSIAN',
      methodology: 'honestMajorityShareShuffle',
      aggregator: GAMMA,
      workers: [ALPHA, BETA],
    });
  });

  it('returns frequencies, with the standard deviation of each count', async () => {
    const { total } = await consumer.open(await measured(FREQUENCIES, shuffledFrequency()));
    const { reach, frequency, frequencyMethodology } = total.deduplicated!;
    expect(reach!.value).toBe(40_000);
    expect(frequencyMethodology).toBe('honestMajorityShareShuffle');
    expect(frequency!.map(({ share, count }) => [share.value, count.value])).toEqual([
      [0.5, 20_000],
      [0.25, 10_000],
      [0.25, 10_000],
    ]);
    const deviations = frequency!.map(({ count }) => count.standardDeviation);
    // The first bins have the noise of one count. The last bin is computed from the reach and the other bins, so its
    // noise includes theirs.
    expect(deviations[0]).toBeCloseTo(18.607, 2);
    expect(deviations[1]).toBeCloseTo(18.607, 2);
    expect(deviations[2]).toBeCloseTo(18.607 * Math.sqrt(3), 2);
  });

  it('limits the interval to between 0 and the size of the population', async () => {
    const all = await consumer.open(await measured(REQUEST, shuffledReach(1_000_000n)));
    expect(all.total.deduplicated!.reach!.interval[1]).toBe(1_000_000);
    const nobody = await consumer.open(await measured(REQUEST, shuffledReach(0n)));
    expect(nobody.total.deduplicated!.reach!.interval[0]).toBe(0);
  });

  it('returns an infinite variance if the aggregator does not name its noise mechanism', async () => {
    const { methodology, value } = shuffledReach(5n).reach!;
    const silent = await measured(REQUEST, { reach: { value: value!, methodology: methodology! } });
    const { total } = await consumer.open(silent);
    expect(total.deduplicated!.reach).toMatchObject({ value: 5, variance: Number.POSITIVE_INFINITY });
  });
});

describe('a consumer that opens a false result of duchies', () => {
  it.each<[string, Partial<ShareShuffleConfig>, string]>([
    ['an aggregator that it does not accept', { aggregator: MALLORY }, 'DUCHY_UNKNOWN'],
    ['a first worker that it does not accept', { firstWorker: MALLORY }, 'DUCHY_UNKNOWN'],
    ['a second worker that it does not accept', { secondWorker: MALLORY }, 'DUCHY_UNKNOWN'],
    ['one duchy as both workers', { firstWorker: BETA }, 'DUCHY_REPEATED'],
    ['one duchy as worker and aggregator', { aggregator: ALPHA }, 'DUCHY_REPEATED'],
    ['a worker in the role of the aggregator', { aggregator: ALPHA, firstWorker: GAMMA }, 'SIGNER_FOREIGN'],
    ['the noise mechanism NONE instead of the signed one', { noiseMechanism: 'NONE' }, 'PROTOCOL_MISMATCH'],
    ['another noise mechanism than the signed one', { noiseMechanism: 'GEOMETRIC' }, 'PROTOCOL_MISMATCH'],
  ])('rejects %s', async (_what, changes, code) => {
    expect(await opened(config(changes))).toBe(`ResultRejected ${code}`);
  });

  it('rejects a result of a duchy that it does not accept, even with a certificate of a trusted root', async () => {
    const root = await createRoot('Root of all', Date.now());
    const shared = await startLyingExchange(root);
    shared.protocolConfig = SHARE_SHUFFLE;
    const trusting = consumerOf(shared, root.certificatePem, DUCHIES);
    const { name } = await trusting.create(REQUEST);
    await shared.setResult(name!, MALLORY, shuffledReach(1n));
    const forged = await trusting.wait(name!);
    expect(await failure(trusting.open(forged))).toBe('ResultRejected SIGNER_FOREIGN');
    expect(await failure(trusting.open({ ...forged, ...config({ aggregator: MALLORY }) }))).toBe(
      'ResultRejected DUCHY_UNKNOWN',
    );
    // The exchange returns Mallory's certificate under the name of the aggregator's certificate.
    shared.tell((e) =>
      e.path.startsWith(`${GAMMA}/certificates/`)
        ? { ...shared.resources.get(`${MALLORY}/certificates/c1`), name: e.path }
        : e.reply,
    );
    const renamed = forged.results!.map((result) => ({ ...result, certificate: `${GAMMA}/certificates/c1` }));
    expect(await failure(trusting.open({ ...forged, results: renamed }))).toBe(
      'ResultRejected CERTIFICATE_OF_ANOTHER_PARTY',
    );
  });

  it('rejects the result of a provider as the result of the aggregator', async () => {
    const ofStreamly = await signedBy(STREAMLY, shuffledReach(9n));
    expect(await opened({ results: [ofStreamly] })).toBe('ResultRejected SIGNER_FOREIGN');
    const renamed = { ...ofStreamly, certificate: `${GAMMA}/certificates/c1` };
    expect(await opened({ results: [renamed] })).toBe('ResultRejected SIGNATURE_INVALID');
  });

  it('rejects a revoked certificate of the aggregator', async () => {
    x.tell((e) =>
      e.path.startsWith(`${GAMMA}/certificates/`) ? { ...e.reply, revocationState: 'REVOKED' } : e.reply,
    );
    expect(await opened({})).toBe('ResultRejected CERTIFICATE_REVOKED');
  });

  it('rejects no result, two results of the aggregator, and an extra result of a worker', async () => {
    const [good] = done.results!;
    expect(await opened({ results: [] })).toBe('ResultRejected SIGNER_MISSING');
    expect(await opened({ results: [good!, good!] })).toBe('ResultRejected SIGNER_REPEATED');
    const another = await signedBy(GAMMA, shuffledReach(1n));
    expect(await opened({ results: [good!, another] })).toBe('ResultRejected SIGNER_REPEATED');
    const ofAlpha = await signedBy(ALPHA, shuffledReach(1n));
    expect(await opened({ results: [good!, ofAlpha] })).toBe('ResultRejected SIGNER_FOREIGN');
  });

  it('rejects the result of another measurement of the same consumer, providers and duchies', async () => {
    expect(await opened({ results: other.results! })).toBe('ResultRejected NO_MATCHING_KEY');
    expect(await failure(consumer.open({ ...other, name: done.name! }, { request: REQUEST }))).toBe(
      'ResultRejected REQUEST_MISMATCH',
    );
  });

  it('rejects less noise, or fewer providers, than requested', async () => {
    const spec = fromBinary(specs.MeasurementSpecSchema, done.measurementSpec!.message);
    if (spec.measurementType.case !== 'reach') throw new Error('not a reach');
    spec.measurementType.value.privacyParams!.epsilon = 5;
    const measurementSpec = {
      ...done.measurementSpec!,
      message: toBinary(specs.MeasurementSpecSchema, spec),
    };
    expect(await opened({ measurementSpec })).toBe('ResultRejected SPEC_FOREIGN');
    const { [CHIRPER]: _dropped, ...dataProviders } = done.dataProviders!;
    expect(await opened({ dataProviders })).toBe('ResultRejected SPEC_FOREIGN');
  });

  it('rejects a result of duchies as results of providers, and vice versa', async () => {
    expect(await opened({ protocolConfig: { direct: {} } })).toBe('ResultRejected SIGNER_FOREIGN');
    x.protocolConfig = { direct: {} };
    const { name } = await consumer.create(REQUEST);
    await x.fulfill(name!, STREAMLY, reach(3n));
    await x.fulfill(name!, CHIRPER, reach(4n));
    const direct = await consumer.wait(name!);
    expect((await consumer.open(direct)).total.reach!.bounds).toEqual([4, 7]);
    expect(await failure(consumer.open({ ...direct, ...config({}) }))).toBe('ResultRejected SIGNER_FOREIGN');
    // Let the aggregator sign a figure with the methodology of a single provider instead of a duchy protocol.
    const counted = await measuredByDuchies(reach(3n));
    expect(await failure(consumer.open(counted))).toBe('ResultRejected PROTOCOL_MISMATCH');
  });

  const measuredByDuchies = (result: ResultInit, request = REQUEST) => {
    x.protocolConfig = SHARE_SHUFFLE;
    return measured(request, result);
  };

  it('rejects two protocols, and no protocol', async () => {
    const { honestMajorityShareShuffle } = done.protocolConfig!;
    for (const protocolConfig of [{ direct: {}, honestMajorityShareShuffle }, {}]) {
      expect(await opened({ protocolConfig })).toBe('ResultRejected PROTOCOL_UNSUPPORTED');
    }
  });

  it.each<[string, ResultInit, MeasurementRequest]>([
    ['a reach above the size of the population', shuffledReach(1_000_001n), REQUEST],
    ['a reach below 0', shuffledReach(-1n), REQUEST],
    ['a sample size of 0', shuffledReach(0n, 0n), REQUEST],
    ['a sample size above the limit', shuffledReach(1n, 1n << 40n), REQUEST],
    ['a reach and a frequency with different sample sizes', shuffledFrequency(999n), FREQUENCIES],
  ])('rejects %s', async (_what, result, request) => {
    const wrong = await measuredByDuchies(result, request);
    expect(await failure(consumer.open(wrong))).toBe('ResultRejected RESULT_MALFORMED');
  });

  it('rejects a measurement without its own result key, because its results could be swapped', async () => {
    const { encryptionPublicKey, privateKeyPem, certificate } = x.of(ACME);
    const { spec, dataProviders } = readRequest(asking('a', STREAMLY));
    const signer = await createSigner(privateKeyPem);
    const [{ selection }] = dataProviders as [(typeof dataProviders)[0]];
    const hash = await nonceHash(77n);
    const sealed = packSignedMessage(
      await signer.sign(encodeRequisitionSpec(selection, encryptionPublicKey, 77n)),
      TYPE_URLS.RequisitionSpec,
    );
    const keyset = x.of(STREAMLY).encryptionPublicKey;
    const entry = {
      dataProviderCertificate: x.of(STREAMLY).certificate,
      dataProviderPublicKey: { '@type': TYPE_URLS.EncryptionPublicKey, data: keyset },
      encryptedRequisitionSpec: {
        ciphertext: await encrypt(keyset, sealed),
        typeUrl: TYPE_URLS.RequisitionSpec,
      },
      nonceHash: hash,
    };
    const body = {
      measurementConsumerCertificate: certificate,
      measurementSpec: await signer.sign(encodeMeasurementSpec(spec, encryptionPublicKey, [hash])),
      dataProviders: { [STREAMLY]: entry },
    };
    const { name } = await x.client().createMeasurement({ parent: ACME, body });
    await x.setResult(name!, GAMMA, shuffledReach(5n));
    expect(await failure(consumer.open(await consumer.wait(name!)))).toBe('ResultRejected SPEC_FOREIGN');
  });
});

describe('a consumer that creates a measurement for duchies', () => {
  const created = async (protocolConfig: Json, by = consumer, request = REQUEST) => {
    x.protocolConfig = protocolConfig;
    const from = x.log.length;
    const outcome = await failure(by.measure(request, { timeoutMs: 5000 }));
    const waited = x.log
      .slice(from)
      .some(({ method, path }) => method === 'GET' && path.includes('/measurements/'));
    return `${outcome}${waited ? ', after a wait' : ''}`;
  };
  const shuffle = (changes: object) => ({
    honestMajorityShareShuffle: { ...SHARE_SHUFFLE.honestMajorityShareShuffle, ...changes },
  });

  it.each<[string, Json, string]>([
    ['an unknown aggregator', shuffle({ aggregator: MALLORY }), 'DUCHY_UNKNOWN'],
    ['an unknown worker', shuffle({ secondWorker: MALLORY }), 'DUCHY_UNKNOWN'],
    ['a duchy with two roles', shuffle({ secondWorker: ALPHA }), 'DUCHY_REPEATED'],
    ['two protocols', { ...SHARE_SHUFFLE, direct: {} }, 'PROTOCOL_UNSUPPORTED'],
  ])('rejects %s without waiting', async (_what, protocolConfig, code) => {
    expect(await created(protocolConfig)).toBe(`ProtocolRejected ${code}`);
  });

  it('rejects every duchy without waiting if it accepts none', async () => {
    expect(await created(SHARE_SHUFFLE, consumerOf(x))).toBe('ProtocolRejected DUCHY_UNKNOWN');
  });

  it('rejects impressions without waiting, because duchies do not compute them', async () => {
    const request = { ...REQUEST, type: 'impression', maximumFrequencyPerUser: 3 } as const;
    expect(await created(SHARE_SHUFFLE, consumer, request)).toBe('ProtocolRejected PROTOCOL_MISMATCH');
  });

  it('rejects a VID sample beyond 1 without waiting if the protocol is direct', async () => {
    const request = { ...REQUEST, vidSampling: { start: 0.75, width: 0.5 } };
    expect(await created({ direct: {} }, consumer, request)).toBe('ProtocolRejected PROTOCOL_MISMATCH');
  });

  it('names the created measurement in its error', async () => {
    x.protocolConfig = shuffle({ aggregator: MALLORY });
    await expect(consumer.create(REQUEST)).rejects.toMatchObject({
      measurement: { name: expect.stringMatching(/^measurementConsumers\/acme\/measurements\//) },
      message: expect.stringContaining(`${MALLORY} is to compute it`),
    });
  });
});

it('a consumer rejects a worker that the exchange names as the aggregator after the creation', async () => {
  // A worker cooperates with the exchange. The worker signs the result, and the exchange then names the worker as the
  // aggregator.
  x.tell(async (e) => {
    if (e.method === 'POST') await x.setResult(e.reply.name, ALPHA, shuffledReach(1n));
    else if (e.reply.protocolConfig) {
      Object.assign(e.reply.protocolConfig.honestMajorityShareShuffle, {
        aggregator: ALPHA,
        firstWorker: GAMMA,
      });
    }
    return e.reply;
  });
  expect(await failure(consumer.measure(REQUEST))).toBe('ResultRejected SIGNER_FOREIGN');
});
