/**
 * Tests when a Liquid Legions protocol is chosen: by default, at a consumer's request, within its limits, and depending
 * on the operators of its duchies.
 */
import type { LiquidLegionsV2Config, PlainSpec, Protocol } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { chooseProtocol, type DuchyOperators } from './protocol.ts';
import { candidateOf, duchiesOf, optionsOf, type Protocols } from './protocolOptions.ts';
import type { ShareShuffleSetting } from './shareShuffle.ts';

const SHUFFLE: ShareShuffleSetting = {
  ...{ firstWorker: 'duchies/one', secondWorker: 'duchies/two', aggregator: 'duchies/three' },
  ...{ noiseMechanism: 'DISCRETE_GAUSSIAN', reachRingModulus: 127, reachAndFrequencyRingModulus: 127 },
};
const HIDING = { epsilon: 0.1, delta: 1e-9 };
const { samplingIndicatorSize, maximumFrequency, ...REACH_ONLY }: LiquidLegionsV2Config = {
  ...{
    workers: ['duchies/one', 'duchies/four'],
    aggregator: 'duchies/five',
    noiseMechanism: 'DISCRETE_GAUSSIAN',
  },
  ...{ decayRate: 12, maxSize: 100_000, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
  ...{ samplingIndicatorSize: 10_000_000, maximumFrequency: 10 },
};
const LEGIONS = { ...REACH_ONLY, samplingIndicatorSize, maximumFrequency };
const ALL: Protocols = {
  liquidLegionsV2: LEGIONS,
  reachOnlyLiquidLegionsV2: REACH_ONLY,
  honestMajorityShareShuffle: SHUFFLE,
};
const NAMES: Protocol[] = ['honestMajorityShareShuffle', 'reachOnlyLiquidLegionsV2', 'liquidLegionsV2'];

const PARAMS = { epsilon: 0.1, delta: 1e-9 };
const COMMON = {
  measurementPublicKey: { value: Uint8Array.of(1) },
  vidSamplingInterval: { start: 0.5, width: 0.5 },
  nonceHashes: [],
};
const reach = (changes: object = {}): PlainSpec => ({
  ...{ ...COMMON, measurementType: 'REACH', reach: { privacyParams: PARAMS } },
  ...changes,
});
const frequency = (changes: object = {}): PlainSpec => ({
  ...{ ...COMMON, measurementType: 'REACH_AND_FREQUENCY' },
  reachAndFrequency: {
    ...{ reachPrivacyParams: PARAMS, frequencyPrivacyParams: PARAMS, maximumFrequency: 10 },
    ...changes,
  },
});

interface World {
  enabled?: Protocols;
  wish?: Protocol;
  providers?: number;
  /** The protocols that all providers support. */
  supported?: Protocol[];
  suspended?: string;
  hasPopulation?: boolean;
  isSpecSigned?: boolean;
  duchyOperators?: DuchyOperators;
}

/**
 * Returns the chosen protocol, the findings in a short form, and their messages. The short form of PROTOCOL_NOT_USED is
 * the unused protocol and the field of the request. For all other findings, it is the code.
 */
function choose(spec: PlainSpec, world: World = {}) {
  const { enabled = ALL, wish, providers = 2, supported = NAMES, hasPopulation = true } = world;
  const names = Array.from({ length: providers }, (_, i) => `dataProviders/p${i}`);
  const entries = Object.fromEntries(names.map((name, i) => [name, { nonceHash: Uint8Array.of(i) }]));
  const nonceHashes = Object.values(entries).map(({ nonceHash }) => nonceHash);
  const candidate = candidateOf({ ...spec, nonceHashes }, providers, enabled, wish);
  const duchies = optionsOf(enabled).flatMap(duchiesOf);
  const stateOf = (name: string) => (name === world.suspended ? ('SUSPENDED' as const) : ('ACTIVE' as const));
  const choice = chooseProtocol(candidate, entries, {
    parties: new Map(
      [...names, ...duchies].map((name) => [name, { state: stateOf(name), protocols: supported }]),
    ),
    population: hasPopulation
      ? { id: 'people', size: 1000, fingerprint: new Uint8Array(32).fill(7) }
      : undefined,
    isSpecSigned: world.isSpecSigned ?? true,
    duchyOperators: world.duchyOperators ?? {},
  });
  const findings = choice.findings.map(({ code, field, message }) =>
    code === 'PROTOCOL_NOT_USED' ? `${message.split(' ')[0]} ${field}` : code,
  );
  return { ...choice, findings, messages: choice.findings.map(({ message }) => message) };
}

describe('the choice between several enabled protocols', () => {
  it.each<[string, PlainSpec, World, Protocol, string[]]>([
    ['share-shuffle comes first', reach(), {}, 'honestMajorityShareShuffle', []],
    ['share-shuffle comes first for frequencies, too', frequency(), {}, 'honestMajorityShareShuffle', []],
    [
      'reach without a population uses reach-only Liquid Legions',
      reach(),
      { hasPopulation: false },
      'reachOnlyLiquidLegionsV2',
      ['honestMajorityShareShuffle measurementSpec.message.modelLine'],
    ],
    [
      'frequencies without a population use Liquid Legions',
      frequency(),
      { hasPopulation: false },
      'liquidLegionsV2',
      ['honestMajorityShareShuffle measurementSpec.message.modelLine'],
    ],
    [
      'a protocol that no provider supports is not used',
      reach(),
      { supported: ['reachOnlyLiquidLegionsV2'] },
      'reachOnlyLiquidLegionsV2',
      [
        'honestMajorityShareShuffle dataProviders[dataProviders/p0]',
        'honestMajorityShareShuffle dataProviders[dataProviders/p1]',
      ],
    ],
    [
      'a suspended duchy leaves only the protocols without it',
      reach(),
      { suspended: 'duchies/two' },
      'reachOnlyLiquidLegionsV2',
      ['honestMajorityShareShuffle protocolConfig'],
    ],
    [
      'a suspended duchy of all multi-party protocols leaves only direct',
      reach(),
      { suspended: 'duchies/one' },
      'direct',
      [
        'honestMajorityShareShuffle protocolConfig',
        'reachOnlyLiquidLegionsV2 protocolConfig',
        'REACH_NOT_DEDUPLICATED',
      ],
    ],
    [
      'reach never uses the protocol for frequencies',
      reach(),
      { enabled: { liquidLegionsV2: LEGIONS } },
      'direct',
      ['REACH_NOT_DEDUPLICATED'],
    ],
    [
      'a spec that is not signed uses direct',
      reach(),
      { isSpecSigned: false },
      'direct',
      [
        'honestMajorityShareShuffle measurementSpec.signature',
        'reachOnlyLiquidLegionsV2 measurementSpec.signature',
        'REACH_NOT_DEDUPLICATED',
      ],
    ],
    [
      'a sampling interval that wraps around does not use Liquid Legions',
      reach({ vidSamplingInterval: { start: 0.75, width: 0.5 } }),
      { hasPopulation: false },
      'direct',
      [
        'honestMajorityShareShuffle measurementSpec.message.modelLine',
        'reachOnlyLiquidLegionsV2 measurementSpec.message.vidSamplingInterval',
        'REACH_NOT_DEDUPLICATED',
      ],
    ],
  ])('%s', (_what, spec, world, protocol, findings) => {
    expect(choose(spec, world)).toMatchObject({ protocol, findings });
  });

  it('the config of the chosen protocol is its setting', () => {
    expect(choose(reach(), { hasPopulation: false }).config).toEqual(REACH_ONLY);
    expect(choose(frequency(), { hasPopulation: false }).config).toEqual(LEGIONS);
  });
});

describe('a consumer that requests a protocol', () => {
  it.each<[Protocol, PlainSpec, World, Protocol, string[]]>([
    ['liquidLegionsV2', frequency(), {}, 'liquidLegionsV2', []],
    ['reachOnlyLiquidLegionsV2', reach(), {}, 'reachOnlyLiquidLegionsV2', []],
    ['honestMajorityShareShuffle', reach(), {}, 'honestMajorityShareShuffle', []],
    ['direct', reach(), {}, 'direct', ['REACH_NOT_DEDUPLICATED']],
    ['liquidLegionsV2', reach(), {}, 'honestMajorityShareShuffle', ['liquidLegionsV2 protocolConfig']],
    [
      'reachOnlyLiquidLegionsV2',
      frequency(),
      {},
      'honestMajorityShareShuffle',
      ['reachOnlyLiquidLegionsV2 protocolConfig'],
    ],
    [
      'liquidLegionsV2',
      frequency(),
      { enabled: { honestMajorityShareShuffle: SHUFFLE } },
      'honestMajorityShareShuffle',
      ['liquidLegionsV2 protocolConfig'],
    ],
    [
      'liquidLegionsV2',
      frequency(),
      { suspended: 'duchies/five' },
      'honestMajorityShareShuffle',
      ['liquidLegionsV2 protocolConfig'],
    ],
    ['liquidLegionsV2', frequency(), { providers: 1 }, 'direct', ['liquidLegionsV2 protocolConfig']],
    ['direct', frequency(), { providers: 1 }, 'direct', []],
    [
      'liquidLegionsV2',
      { ...COMMON, measurementType: 'POPULATION' },
      {},
      'direct',
      ['liquidLegionsV2 protocolConfig'],
    ],
  ])('gets %s, or the reason why not: %j %j', (wish, spec, world, protocol, findings) => {
    expect(choose(spec, { ...world, wish })).toMatchObject({ protocol, findings });
  });

  it('gets a message with the reason if the protocol is not used', () => {
    expect(choose(reach(), { wish: 'liquidLegionsV2' }).messages).toEqual([
      'liquidLegionsV2 is not used: it does not compute REACH.',
    ]);
    expect(choose(frequency(), { wish: 'liquidLegionsV2', enabled: {} }).messages[0]).toBe(
      'liquidLegionsV2 is not used: it is not enabled on this exchange.',
    );
    expect(choose(frequency(), { wish: 'liquidLegionsV2', providers: 1 }).messages).toEqual([
      'liquidLegionsV2 is not used: there are no people of several data providers to be counted once.',
    ]);
  });
});

describe('a Liquid Legions protocol', () => {
  const only = (setting: Partial<LiquidLegionsV2Config> = {}): World => ({
    enabled: { liquidLegionsV2: { ...LEGIONS, ...setting } },
  });
  const reason = (spec: PlainSpec, world: World) => choose(spec, world).messages[0];

  it('is not used for a maximumFrequency above its limit', () => {
    expect(reason(frequency({ maximumFrequency: 11 }), only())).toBe(
      'liquidLegionsV2 is not used: maximumFrequency must be at most 10.',
    );
    expect(choose(frequency({ maximumFrequency: 2 }), only()).protocol).toBe('liquidLegionsV2');
  });

  it('requires delta above 0, unless its noise mechanism is NONE', () => {
    const exact = { epsilon: 0.1, delta: 0 };
    expect(reason(frequency({ frequencyPrivacyParams: exact }), only())).toContain('delta must be above 0');
    expect(
      choose(frequency({ frequencyPrivacyParams: exact }), only({ noiseMechanism: 'NONE' })).protocol,
    ).toBe('liquidLegionsV2');
  });

  it('is not used if its noise would take too many registers', () => {
    const weak = { epsilon: 0.00003, delta: 1e-9 };
    for (const member of ['reachPrivacyParams', 'frequencyPrivacyParams']) {
      expect(reason(frequency({ [member]: weak }), only())).toMatch(
        /its noise would take \d+ registers, and 1048576 are possible: raise epsilon/,
      );
    }
    expect(
      reason(frequency(), only({ histogramPrivacyParams: { epsilon: 0.001, delta: 1e-9 } })),
    ).toBeUndefined();
    const hiding = { epsilon: 0.0001, delta: 1e-9 };
    expect(reason(frequency(), only({ histogramPrivacyParams: hiding }))).toMatch(/its noise would take/);
    expect(reason(frequency(), only({ publisherPrivacyParams: { epsilon: 1e-5, delta: 1e-9 } }))).toMatch(
      /its noise would take/,
    );
  });

  it('is not used if the sketches and the noise would take too many registers', () => {
    const world = (providers: number) => ({ ...only({ maxSize: 1_000_000 }), providers });
    expect(choose(frequency(), world(4)).protocol).toBe('liquidLegionsV2');
    expect(reason(frequency(), world(5))).toMatch(
      /5 data providers and the noise take 50\d+ registers, and 5000000 are possible/,
    );
  });
});

describe('the operators of duchies', () => {
  const aggregatorOf = (protocol: keyof Protocols) => ALL[protocol]!.aggregator;
  const ringAggregator = aggregatorOf('liquidLegionsV2');
  const RINGS: Protocols = {
    reachOnlyLiquidLegionsV2: ALL.reachOnlyLiquidLegionsV2!,
    liquidLegionsV2: ALL.liquidLegionsV2!,
  };

  it.each([
    ['reachOnlyLiquidLegionsV2', reach()],
    ['liquidLegionsV2', frequency()],
  ] as const)('exclude %s if its aggregator belongs to a data provider', (protocol, spec) => {
    const duchyOperators = { [ringAggregator]: ['dataProviders/other', 'dataProviders/p1'] };
    const choice = choose(spec, { enabled: RINGS, duchyOperators });
    expect([choice.protocol, ...choice.findings]).toEqual([
      'direct',
      `${protocol} dataProviders[dataProviders/p1]`,
      'REACH_NOT_DEDUPLICATED',
    ]);
    expect(choice.messages[0]).toBe(
      `${protocol} is not used: its aggregator ${ringAggregator} belongs to dataProviders/p1.`,
    );
    expect(() => choose(spec, { enabled: RINGS, duchyOperators, wish: protocol })).toThrow(
      expect.objectContaining({
        reason: 'PROTOCOL_NOT_ALLOWED',
        violations: [
          {
            field: 'protocolConfig',
            description: `its aggregator ${ringAggregator} belongs to dataProviders/p1`,
          },
        ],
      }),
    );
    // A provider is allowed to operate the aggregator if the provider's data is not part of the measurement. A provider
    // is allowed to operate a worker even if the provider's data is part of the measurement.
    for (const allowed of [
      { [ringAggregator]: ['dataProviders/other'] },
      { [RINGS[protocol]!.workers[0]!]: ['dataProviders/p1'] },
    ]) {
      const { protocol: chosen } = choose(spec, { enabled: RINGS, duchyOperators: allowed, wish: protocol });
      expect(chosen).toBe(protocol);
    }
  });

  it('exclude share-shuffle if its aggregator belongs to a data provider, and the next protocol is used', () => {
    const aggregator = aggregatorOf('honestMajorityShareShuffle');
    const enabled: Protocols = {
      ...ALL,
      reachOnlyLiquidLegionsV2: { ...RINGS.reachOnlyLiquidLegionsV2!, aggregator: 'duchies/ring' },
    };
    const duchyOperators = { [aggregator]: ['dataProviders/p0'] };
    const choice = choose(reach(), { enabled, duchyOperators });
    expect([choice.protocol, ...choice.findings]).toEqual([
      'reachOnlyLiquidLegionsV2',
      'honestMajorityShareShuffle dataProviders[dataProviders/p0]',
    ]);
    expect(choose(reach(), { enabled, duchyOperators, wish: 'reachOnlyLiquidLegionsV2' }).findings).toEqual(
      [],
    );
    expect(() => choose(reach(), { enabled, duchyOperators, wish: 'honestMajorityShareShuffle' })).toThrow(
      'Ask for another protocol, or for none.',
    );
  });
});
