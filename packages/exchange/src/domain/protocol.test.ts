import type { PlainSpec, Protocol } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { chooseProtocol } from './protocol.ts';
import { candidateOf, type Protocols } from './protocolOptions.ts';
import type { ShareShuffleSetting } from './shareShuffle.ts';

const SETTING: ShareShuffleSetting = {
  firstWorker: 'duchies/one',
  secondWorker: 'duchies/two',
  aggregator: 'duchies/three',
  noiseMechanism: 'DISCRETE_GAUSSIAN',
  reachRingModulus: 127,
  reachAndFrequencyRingModulus: 101,
};
const population = { id: 'people', size: 1000, fingerprint: new Uint8Array(32).fill(7) };

const COMMON = {
  measurementPublicKey: { value: Uint8Array.of(1) },
  nonceHashes: [],
  vidSamplingInterval: { start: 0.5, width: 0.5 },
};
const PARAMS = { epsilon: 0.1, delta: 1e-9 };
type Reach = Extract<PlainSpec, { measurementType: 'REACH' }>;
type Frequency = Extract<PlainSpec, { measurementType: 'REACH_AND_FREQUENCY' }>;
const reach = (changes: Partial<Reach> = {}): Reach => ({
  ...COMMON,
  measurementType: 'REACH',
  reach: { privacyParams: PARAMS },
  ...changes,
});
const frequency = (changes: Partial<Frequency['reachAndFrequency']> = {}): Frequency => ({
  ...COMMON,
  measurementType: 'REACH_AND_FREQUENCY',
  reachAndFrequency: {
    reachPrivacyParams: PARAMS,
    frequencyPrivacyParams: PARAMS,
    maximumFrequency: 10,
    ...changes,
  },
});

function without(field: 'measurementPublicKey' | 'vidSamplingInterval'): PlainSpec {
  const spec = reach();
  delete spec[field];
  return spec;
}

interface World {
  providers?: number;
  enabled?: Protocols;
  /** The protocols that the first provider supports. */
  first?: Protocol[];
  suspended?: string;
  population?: typeof population | undefined;
  /**
   * Whether the spec lists the nonce hashes of its providers. If false, the spec keeps its own `nonceHashes`, which are
   * empty by default.
   */
  nonces?: boolean;
  isSpecSigned?: boolean;
}

/** Chooses a protocol for two providers that support share shuffle, unless `world` says otherwise. */
function choose(spec: PlainSpec | undefined, world: World = {}) {
  const { providers = 2, enabled = { honestMajorityShareShuffle: SETTING }, first } = world;
  const { nonces = true, isSpecSigned = true } = world;
  const names = Array.from({ length: providers }, (_, i) => `dataProviders/p${i}`);
  const entries = Object.fromEntries(names.map((name, i) => [name, { nonceHash: Uint8Array.of(i) }]));
  const nonceHashes = Object.values(entries).map(({ nonceHash }) => nonceHash);
  const duchies = [SETTING.firstWorker, SETTING.secondWorker, SETTING.aggregator];
  const parties = new Map(
    [...names, ...duchies].map((name, i) => [
      name,
      {
        state: name === world.suspended ? ('SUSPENDED' as const) : ('ACTIVE' as const),
        protocols: i === 0 && first ? first : (['honestMajorityShareShuffle'] as Protocol[]),
      },
    ]),
  );
  const candidate = candidateOf(spec && nonces ? { ...spec, nonceHashes } : spec, providers, enabled);
  const found = 'population' in world ? world.population : population;
  return chooseProtocol(candidate, entries, { parties, population: found, isSpecSigned, duchyOperators: {} });
}

/** Returns the field and reason of each finding, except the last finding, which must be REACH_NOT_DEDUPLICATED. */
function reasons(spec: PlainSpec, world?: World): string[] {
  const { protocol, config, findings } = choose(spec, world);
  expect([protocol, config]).toEqual(['direct', undefined]);
  expect(findings.at(-1)).toMatchObject({ code: 'REACH_NOT_DEDUPLICATED', field: 'dataProviders' });
  return findings.slice(0, -1).map(({ code, field, message }) => {
    expect([code, message.slice(0, 40)]).toEqual([
      'PROTOCOL_NOT_USED',
      'honestMajorityShareShuffle is not used: ',
    ]);
    return `${field}: ${message.slice(40)}`;
  });
}

describe('share shuffle', () => {
  it.each<[PlainSpec, number]>([
    [reach(), 127],
    [frequency(), 101],
  ])('is chosen for %j, with a complete config', (spec, ringModulus) => {
    expect(choose(spec)).toEqual({
      protocol: 'honestMajorityShareShuffle',
      config: {
        firstWorker: 'duchies/one',
        secondWorker: 'duchies/two',
        aggregator: 'duchies/three',
        noiseMechanism: 'DISCRETE_GAUSSIAN',
        ringModulus,
        population: 'populations/people',
        populationFingerprint: Buffer.alloc(32, 7).toString('base64'),
      },
      findings: [],
    });
  });

  it('is not chosen if a data provider does not support it', () => {
    expect(reasons(reach(), { first: ['liquidLegionsV2'] })).toEqual([
      'dataProviders[dataProviders/p0]: dataProviders/p0 does not support it.',
    ]);
  });

  it('is not chosen while one of its duchies is suspended', () => {
    expect(reasons(reach(), { suspended: 'duchies/three' })).toEqual([
      'protocolConfig: duchies/three, which takes part in it, is suspended.',
    ]);
  });

  it('is not chosen without a population', () => {
    const field = 'measurementSpec.message.modelLine';
    expect(reasons(reach(), { population: undefined })).toEqual([
      `${field}: the spec names no model line, and no population is the default.`,
    ]);
    expect(reasons(reach({ modelLine: 'line' }), { population: undefined })).toEqual([
      `${field}: no population has the model line of the spec.`,
    ]);
  });

  it.each<[number, number, boolean]>([
    [11, 9, true],
    [12, 9, false],
    [49, 2, true],
    [50, 2, false],
    [2 ** 31 - 1, 2, false],
  ])('computes frequencies up to %i at each of %i providers: %s', (maximumFrequency, providers, fits) => {
    const spec = frequency({ maximumFrequency });
    if (fits) return expect(choose(spec, { providers }).findings).toEqual([]);
    expect(reasons(spec, { providers })).toEqual([
      'measurementSpec.message.reachAndFrequency.maximumFrequency: maximumFrequency, times ' +
        `${providers} data providers, must be below 100.`,
    ]);
  });

  it.each([1, 0, -3])('is not chosen for a maximum frequency of %i', (maximumFrequency) => {
    const field = 'reachAndFrequency.maximumFrequency';
    expect(reasons(frequency({ maximumFrequency }))).toEqual([
      `measurementSpec.message.${field}: ${field} must be above 1.`,
    ]);
  });

  it('is not chosen for the reach of more than 126 data providers', () => {
    expect(choose(reach(), { providers: 126 }).findings).toEqual([]);
    expect(reasons(reach(), { providers: 127 })).toEqual([
      'dataProviders: there are 127 data providers, and it takes at most 126.',
    ]);
  });

  it.each([
    ['epsilon', { epsilon: 0.9e-6, delta: 0.5 }, true],
    ['epsilon', { epsilon: Number.POSITIVE_INFINITY, delta: 0.5 }, false],
    ['epsilon', { epsilon: Number.NaN, delta: 0.5 }, false],
    ['delta', { epsilon: 1e-6, delta: 0 }, true],
    ['delta', { epsilon: 1e-6, delta: 1 }, false],
    ['delta', { epsilon: 1e-6, delta: Number.NaN }, false],
  ])('is not chosen for an invalid %s in %j; chosen without noise: %s', (name, params, unnoised) => {
    const fields = (spec: PlainSpec) => reasons(spec).map((line) => line.split(':')[0]);
    const at = 'measurementSpec.message';
    const spec = reach({ reach: { privacyParams: params } });
    expect(fields(spec)).toEqual([`${at}.reach.privacyParams.${name}`]);
    expect(fields(frequency({ reachPrivacyParams: params }))).toEqual([
      `${at}.reachAndFrequency.reachPrivacyParams.${name}`,
    ]);
    expect(fields(frequency({ frequencyPrivacyParams: params }))).toEqual([
      `${at}.reachAndFrequency.frequencyPrivacyParams.${name}`,
    ]);
    const enabled = { honestMajorityShareShuffle: { ...SETTING, noiseMechanism: 'NONE' as const } };
    expect(choose(spec, { enabled }).findings.length === 0).toBe(unnoised);
  });

  it.each<[missing: string, spec: PlainSpec]>([
    ['reach.privacyParams', reach({ reach: {} })],
    ['measurementPublicKey', without('measurementPublicKey')],
    ['vidSamplingInterval', without('vidSamplingInterval')],
  ])('is not chosen without %s, even with noise mechanism NONE', (missing, spec) => {
    const enabled = { honestMajorityShareShuffle: { ...SETTING, noiseMechanism: 'NONE' as const } };
    expect(reasons(spec, { enabled })).toEqual([
      `measurementSpec.message.${missing}: ${missing} is required.`,
    ]);
  });

  it.each([
    ['start', { start: -0.1, width: 0.5 }],
    ['start', { start: 1.1, width: 0.5 }],
    ['width', { start: 0, width: 0 }],
    ['width', { start: 0, width: 1.1 }],
    ['start', { start: Number.NaN, width: 1 }],
  ])('is not chosen for an invalid %s of the sampling interval %j', (member, vidSamplingInterval) => {
    expect(reasons(reach({ vidSamplingInterval }))).toEqual([
      expect.stringContaining(`measurementSpec.message.vidSamplingInterval.${member}: `),
    ]);
  });

  it('is not chosen for a sampling interval that contains no people', () => {
    const narrow = (width: number) => reach({ vidSamplingInterval: { start: 0.5, width } });
    expect(choose(narrow(0.0011)).findings).toEqual([]);
    expect(reasons(narrow(0.0009))).toEqual([
      'measurementSpec.message.vidSamplingInterval.width: the interval has nobody of the 1000 people of the ' +
        'population: widen it.',
    ]);
  });

  it('is not chosen if the consumer did not sign the spec with all nonce hashes', () => {
    expect(reasons(reach(), { isSpecSigned: false, nonces: false })).toEqual([
      'measurementSpec.signature: the key of measurementConsumerCertificate did not sign the message.',
      'measurementSpec.message.nonceHashes: the spec must list the nonceHash of each entry in dataProviders, once.',
    ]);
    const other = reach({ nonceHashes: [Uint8Array.of(0), Uint8Array.of(2)] });
    expect(reasons(other, { nonces: false })).toHaveLength(1);
  });

  it.each([
    [{ epsilon: 0.0005, delta: 1e-9 }, 40, true],
    [{ epsilon: 0.0003, delta: 1e-9 }, 40, false],
    // The maximum frequency does not affect the amount of noise, because noise is added for every value of the ring.
    [{ epsilon: 0.0005, delta: 1e-9 }, 2, true],
    [{ epsilon: 0.0003, delta: 1e-9 }, 2, false],
  ])(
    'is chosen only if the noise of its histogram fits into its registers: %j, %d, %s',
    (params, maximumFrequency, fits) => {
      const spec = frequency({ frequencyPrivacyParams: params, maximumFrequency });
      if (fits) return expect(choose(spec).findings).toEqual([]);
      expect(reasons(spec)).toEqual([
        expect.stringMatching(
          /^measurementSpec\.message: its noise would take \d+ registers, and 16777216 are possible: raise epsilon\.$/,
        ),
      ]);
      const enabled = { honestMajorityShareShuffle: { ...SETTING, noiseMechanism: 'NONE' as const } };
      expect(choose(spec, { enabled }).findings).toEqual([]);
    },
  );

  it('is not chosen for a sample of 500,000,000 people', () => {
    const of = (size: number) => ({ population: { ...population, size } });
    expect(choose(reach(), of(999_000_000)).findings).toEqual([]);
    expect(reasons(reach(), of(1_000_000_000))).toEqual([
      'measurementSpec.message.vidSamplingInterval.width: the sample has 500000000 people, and about 500000000 are ' +
        'possible: narrow the interval.',
    ]);
  });

  it('is chosen for a sampling interval that wraps around', () => {
    expect(choose(reach({ vidSamplingInterval: { start: 0.75, width: 0.5 } })).findings).toEqual([]);
  });

  it('is reported with all reasons why it is not chosen', () => {
    const spec = frequency({ maximumFrequency: 99 });
    expect(reasons(spec, { first: [], population: undefined })).toHaveLength(3);
  });
});

describe('direct', () => {
  it('is chosen with one provider, since there is nothing to deduplicate', () => {
    expect(choose(reach(), { providers: 1, first: [] })).toEqual({
      protocol: 'direct',
      config: undefined,
      findings: [],
    });
  });

  it.each<PlainSpec | undefined>([
    undefined,
    { ...COMMON, measurementType: 'IMPRESSION', impression: { maximumFrequencyPerUser: 1 } },
    { ...COMMON, measurementType: 'DURATION', duration: {} },
    { ...COMMON, measurementType: 'POPULATION' },
  ])('is chosen for %j', (spec) => {
    expect(choose(spec)).toEqual({ protocol: 'direct', config: undefined, findings: [] });
  });

  it('is chosen if nothing else is enabled, with the finding REACH_NOT_DEDUPLICATED', () => {
    expect(reasons(reach(), { enabled: {} })).toEqual([]);
    expect(reasons(frequency(), { enabled: {} })).toEqual([]);
  });
});
