/**
 * Tests that a dishonest exchange cannot make a consumer accept a false figure of the Liquid Legions protocols. The
 * exchange can change only the width of the figure's interval, and only if the consumer opens the measurement without
 * the protocol configuration that the exchange returned when the measurement was created.
 */
import {
  fromBase64,
  type LiquidLegionsV2Config,
  type Measurement,
  specs,
} from '@measurement-exchange/contract';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Consumer, MeasurementRequest } from '../../src/index.ts';
import {
  ALPHA,
  asking,
  BETA,
  CHIRPER,
  consumerOf,
  failure,
  GAMMA,
  honest,
  type Json,
  LEGIONS,
  type LyingExchange,
  MALLORY,
  REACH_ONLY_LEGIONS,
  type ResultInit,
  SHARE_SHUFFLE,
  STREAMLY,
  shuffledReach,
  startLyingExchange,
} from './lyingExchange.ts';

const REQUEST = asking('a', STREAMLY, CHIRPER);
const FREQUENCIES: MeasurementRequest = { ...REQUEST, type: 'reachAndFrequency', maximumFrequency: 3 };
const HOW = { noiseMechanism: specs.ProtocolConfig_NoiseMechanism.DISCRETE_GAUSSIAN };
const OF_LEGIONS = { ...HOW, methodology: { case: 'liquidLegionsV2', value: {} } } as const;
const reach = (value: bigint): ResultInit => ({
  reach: { value, ...HOW, methodology: { case: 'reachOnlyLiquidLegionsV2', value: {} } },
});
const frequency = (
  value: bigint,
  relativeFrequencyDistribution = { 1: 0.5, 2: 0.25, 3: 0.25 },
): ResultInit => ({
  reach: { value, ...OF_LEGIONS },
  frequency: { relativeFrequencyDistribution, ...OF_LEGIONS },
});

let x: LyingExchange;
let consumer: Consumer;
/** One completed measurement of each protocol. */
let done: Record<'reachOnlyLiquidLegionsV2' | 'liquidLegionsV2', Measurement>;

async function measured(protocolConfig: Json, request: MeasurementRequest, result: ResultInit) {
  x.protocolConfig = protocolConfig;
  const { name } = await consumer.create(request);
  await x.setResult(name!, GAMMA, result);
  return consumer.wait(name!);
}

beforeAll(async () => {
  x = await startLyingExchange();
  consumer = consumerOf(x, undefined, [ALPHA, BETA, GAMMA]);
  done = {
    reachOnlyLiquidLegionsV2: await measured(REACH_ONLY_LEGIONS, REQUEST, reach(100_000n)),
    liquidLegionsV2: await measured(LEGIONS, FREQUENCIES, frequency(40_000n)),
  };
});
beforeEach(() => x.tell(honest));

describe('a consumer that opens the result of a ring', () => {
  it('returns one figure for all providers, with its standard deviation, its noise and its duchies', async () => {
    const { total, dataProviders } = await consumer.open(done.reachOnlyLiquidLegionsV2, { request: REQUEST });
    expect(dataProviders).toEqual([{ name: STREAMLY }, { name: CHIRPER }]);
    const { reach, ...how } = total.deduplicated!;
    // The sketch of 10,000 registers contributes an error of 2.9%. The noise has a standard deviation of 13 registers,
    // and contributes 1.6%.
    expect(reach).toMatchObject({ value: 100_000, standardDeviation: expect.closeTo(3274, 0) });
    expect(how).toEqual({
      noiseMechanism: 'DISCRETE_GAUSSIAN',
      methodology: 'reachOnlyLiquidLegionsV2',
      aggregator: GAMMA,
      workers: [ALPHA, BETA],
    });
  });

  it('returns frequencies, with a standard deviation for each share and count', async () => {
    const { total } = await consumer.open(done.liquidLegionsV2, { request: FREQUENCIES });
    const { reach, frequency, frequencyMethodology } = total.deduplicated!;
    expect(reach!.value).toBe(40_000);
    expect(frequencyMethodology).toBe('liquidLegionsV2');
    expect(frequency!.map(({ share, count }) => [share.value, count.value])).toEqual([
      [0.5, 20_000],
      [0.25, 10_000],
      [0.25, 10_000],
    ]);
    for (const { share, count } of frequency!) {
      expect(share.standardDeviation).toBeGreaterThan(0.01);
      expect(share.standardDeviation).toBeLessThan(0.04);
      expect(count.standardDeviation).toBeGreaterThan(40_000 * share.standardDeviation);
    }
  });

  it('accepts a ring of two duchies, and of eleven', async () => {
    const workers = Array.from({ length: 10 }, (_, i) => (i < 2 ? [ALPHA, BETA][i]! : `duchies/d${i}`));
    const accepting = consumerOf(x, undefined, [...workers, GAMMA]);
    for (const some of [[ALPHA], workers]) {
      const { protocolConfig } = changed('liquidLegionsV2', { workers: some });
      const { total } = await accepting.open({ ...done.liquidLegionsV2, protocolConfig: protocolConfig! });
      expect(total.deduplicated!.workers).toEqual(some);
    }
  });

  it('returns an infinite variance if the aggregator does not name its noise mechanism', async () => {
    const methodology = { case: 'reachOnlyLiquidLegionsV2', value: {} } as const;
    const silent = await measured(REACH_ONLY_LEGIONS, REQUEST, { reach: { value: 5n, methodology } });
    const { total } = await consumer.open(silent);
    expect(total.deduplicated!.reach).toMatchObject({ value: 5, variance: Number.POSITIVE_INFINITY });
  });
});

type Legions = keyof typeof done;
const changed = (protocol: Legions, changes: Partial<LiquidLegionsV2Config>) =>
  ({
    protocolConfig: { [protocol]: { ...done[protocol].protocolConfig![protocol]!, ...changes } },
  }) as Pick<Measurement, 'protocolConfig'>;

describe.each(['reachOnlyLiquidLegionsV2', 'liquidLegionsV2'] as const)(
  'a consumer that opens a false %s result',
  (protocol) => {
    const opened = (changes: Partial<Measurement>) =>
      failure(consumer.open({ ...done[protocol], ...changes }));
    const honestResult = () => (protocol === 'liquidLegionsV2' ? frequency(7n) : reach(7n));
    const signedBy = async (party: string, result: ResultInit) => {
      const { certificate, encryptedResult } = await x.signedResult(done[protocol].name!, party, result);
      const { ciphertext, typeUrl } = encryptedResult;
      return { certificate, encryptedResult: { ciphertext: fromBase64(ciphertext)!, typeUrl } };
    };

    it.each<[string, Partial<LiquidLegionsV2Config>, string]>([
      ['an aggregator that it does not accept', { aggregator: MALLORY }, 'DUCHY_UNKNOWN'],
      ['a worker that it does not accept', { workers: [ALPHA, MALLORY] }, 'DUCHY_UNKNOWN'],
      ['an additional worker that it does not accept', { workers: [ALPHA, BETA, MALLORY] }, 'DUCHY_UNKNOWN'],
      ['one duchy as two workers', { workers: [BETA, BETA] }, 'DUCHY_REPEATED'],
      ['one duchy as worker and aggregator', { workers: [ALPHA, GAMMA] }, 'DUCHY_REPEATED'],
      ['no worker', { workers: [] }, 'PROTOCOL_UNSUPPORTED'],
      ['a worker as the aggregator', { workers: [GAMMA, BETA], aggregator: ALPHA }, 'SIGNER_FOREIGN'],
      ['the noise mechanism NONE instead of the signed one', { noiseMechanism: 'NONE' }, 'PROTOCOL_MISMATCH'],
      ['another noise mechanism than the signed one', { noiseMechanism: 'GEOMETRIC' }, 'PROTOCOL_MISMATCH'],
      ['a decay rate beyond the limit', { decayRate: 101 }, 'PROTOCOL_UNSUPPORTED'],
      ['a sketch beyond the limit', { maxSize: 1_000_001 }, 'PROTOCOL_UNSUPPORTED'],
    ])('rejects %s', async (_what, changes, code) => {
      expect(await opened(changed(protocol, changes))).toBe(`ResultRejected ${code}`);
    });

    it('rejects the result of a provider or a worker, two results of the aggregator, and no result', async () => {
      const [good] = done[protocol].results!;
      expect(await opened({ results: [await signedBy(STREAMLY, honestResult())] })).toBe(
        'ResultRejected SIGNER_FOREIGN',
      );
      expect(await opened({ results: [good!, await signedBy(ALPHA, honestResult())] })).toBe(
        'ResultRejected SIGNER_FOREIGN',
      );
      expect(await opened({ results: [good!, good!] })).toBe('ResultRejected SIGNER_REPEATED');
      expect(await opened({ results: [] })).toBe('ResultRejected SIGNER_MISSING');
    });

    it('rejects the signature of a worker under the name of the aggregator', async () => {
      const renamed = { ...(await signedBy(ALPHA, honestResult())), certificate: `${GAMMA}/certificates/c1` };
      expect(await opened({ results: [renamed] })).toBe('ResultRejected SIGNATURE_INVALID');
    });

    it('rejects the result of another protocol', async () => {
      for (const result of [shuffledReach(7n), protocol === 'liquidLegionsV2' ? reach(7n) : frequency(7n)]) {
        expect(await opened({ results: [await signedBy(GAMMA, result)] })).toBe(
          'ResultRejected PROTOCOL_MISMATCH',
        );
      }
      const honestMajorityShareShuffle = {
        ...SHARE_SHUFFLE.honestMajorityShareShuffle,
        populationFingerprint: new Uint8Array(32),
      };
      expect(await opened({ protocolConfig: { honestMajorityShareShuffle } })).toBe(
        'ResultRejected PROTOCOL_MISMATCH',
      );
      expect(await opened({ protocolConfig: { direct: {} } })).toBe('ResultRejected SIGNER_FOREIGN');
    });

    it('rejects a reach below 0', async () => {
      const result = protocol === 'liquidLegionsV2' ? frequency(-1n) : reach(-1n);
      expect(await opened({ results: [await signedBy(GAMMA, result)] })).toBe(
        'ResultRejected RESULT_MALFORMED',
      );
    });

    it('uses the sketch size of the creation, even if the exchange changes it later', async () => {
      const request = protocol === 'liquidLegionsV2' ? FREQUENCIES : REQUEST;
      x.protocolConfig = protocol === 'liquidLegionsV2' ? LEGIONS : REACH_ONLY_LEGIONS;
      x.tell(async (e) => {
        if (e.method === 'POST') await x.setResult(e.reply.name, GAMMA, honestResult());
        else if (e.reply.protocolConfig) e.reply.protocolConfig[protocol].maxSize = 1_000_000;
        return e.reply;
      });
      const { total } = await consumer.measure(request);
      x.tell(honest);
      const results = [await signedBy(GAMMA, honestResult())];
      const expected = await consumer.open({ ...done[protocol], results });
      expect(total).toEqual(expected.total);
    });
  },
);

describe('a consumer that opens false frequencies of a ring', () => {
  it.each<[string, Record<string, number>]>([
    ['a share above 1', { 1: 1.5 }],
    ['a frequency above the maximum', { 4: 0.5 }],
  ])('rejects %s', async (_what, shares) => {
    const wrong = await measured(LEGIONS, FREQUENCIES, frequency(7n, shares as never));
    expect(await failure(consumer.open(wrong))).toBe('ResultRejected RESULT_MALFORMED');
  });

  it('rejects a result without frequencies', async () => {
    const { reach } = frequency(7n);
    const wrong = await measured(LEGIONS, FREQUENCIES, { reach: reach! });
    expect(await failure(consumer.open(wrong))).toBe('ResultRejected RESULT_TYPE_MISMATCH');
  });
});

describe('a consumer that creates a measurement for a ring', () => {
  const ring = (changes: object) => ({ liquidLegionsV2: { ...LEGIONS.liquidLegionsV2, ...changes } });
  const sampled = { ...FREQUENCIES, vidSampling: { start: 0.75, width: 0.5 } };
  it.each<[string, Json, MeasurementRequest, string]>([
    ['an unknown aggregator', ring({ aggregator: MALLORY }), FREQUENCIES, 'DUCHY_UNKNOWN'],
    ['one duchy as two workers', ring({ workers: [ALPHA, ALPHA] }), FREQUENCIES, 'DUCHY_REPEATED'],
    ['a decay rate beyond the limit', ring({ decayRate: 101 }), FREQUENCIES, 'PROTOCOL_UNSUPPORTED'],
    [
      'a lower maximum frequency than requested',
      ring({ maximumFrequency: 2 }),
      FREQUENCIES,
      'PROTOCOL_MISMATCH',
    ],
    ['frequencies with the protocol for reach only', REACH_ONLY_LEGIONS, FREQUENCIES, 'PROTOCOL_MISMATCH'],
    ['a reach with the protocol for frequencies', LEGIONS, REQUEST, 'PROTOCOL_MISMATCH'],
    ['a VID sample that extends beyond 1', LEGIONS, sampled, 'PROTOCOL_MISMATCH'],
  ])('rejects %s', async (_what, protocolConfig, request, code) => {
    x.protocolConfig = protocolConfig;
    expect(await failure(consumer.create(request))).toBe(`ProtocolRejected ${code}`);
  });
});

describe('the requested protocol', () => {
  const asked: MeasurementRequest = { ...REQUEST, protocol: 'reachOnlyLiquidLegionsV2' };

  it('is the only member of protocolConfig, which is missing if no protocol is requested', async () => {
    x.protocolConfig = REACH_ONLY_LEGIONS;
    await consumer.create(asked);
    expect(x.log.at(-1)!.sent.protocolConfig).toEqual({ reachOnlyLiquidLegionsV2: {} });
    await consumer.create(REQUEST);
    expect(x.log.at(-1)!.sent).not.toHaveProperty('protocolConfig');
  });

  it('must match the request with which a measurement is opened', async () => {
    const ofAsked = await measured(REACH_ONLY_LEGIONS, asked, reach(9n));
    expect((await consumer.open(ofAsked, { request: asked })).total.deduplicated!.reach!.value).toBe(9);
    expect(await failure(consumer.open(ofAsked, { request: REQUEST }))).toBe(
      'ResultRejected REQUEST_MISMATCH',
    );
  });
});
