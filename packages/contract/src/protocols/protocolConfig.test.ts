import { describe, expect, it } from 'vitest';
import type { ExchangeError, Violation } from '../errors/errors.ts';
import { decode } from '../json/codec.ts';
import { parseJson } from '../json/json.ts';
import { toJson } from '../json/writer.ts';
import { liquidLegionsOf, ProtocolConfig, ProtocolWish, wishedProtocol } from './protocolConfig.ts';

const HIDING = { epsilon: 0.1, delta: 1e-9 };
const REACH_ONLY = {
  ...{ workers: ['duchies/a', 'duchies/b'], aggregator: 'duchies/c', noiseMechanism: 'DISCRETE_GAUSSIAN' },
  ...{ decayRate: 12.5, maxSize: 100_000, histogramPrivacyParams: HIDING, publisherPrivacyParams: HIDING },
} as const;
const FREQUENCY = { ...REACH_ONLY, samplingIndicatorSize: 4_000_000_000, maximumFrequency: 10 };

function read(value: object): { config?: ProtocolConfig | undefined; violations: Violation[] } {
  const violations: Violation[] = [];
  const config = decode(ProtocolConfig, parseJson(JSON.stringify(value)), violations);
  return { config, violations };
}

describe('a Liquid Legions config', () => {
  it('is unchanged after it is written as JSON and read back', () => {
    for (const config of [{ liquidLegionsV2: FREQUENCY }, { reachOnlyLiquidLegionsV2: REACH_ONLY }]) {
      expect(JSON.parse(toJson(ProtocolConfig, config as never))).toEqual(config);
      expect(read(config)).toEqual({ config, violations: [] });
    }
  });

  it('must have frequency fields in liquidLegionsV2, and none in reachOnlyLiquidLegionsV2', () => {
    const { violations } = read({ liquidLegionsV2: REACH_ONLY });
    expect(violations.map(({ field }) => field)).toEqual([
      'liquidLegionsV2.samplingIndicatorSize',
      'liquidLegionsV2.maximumFrequency',
    ]);
    expect(read({ reachOnlyLiquidLegionsV2: FREQUENCY }).violations).toHaveLength(2);
  });

  it('is returned by liquidLegionsOf for both protocols', () => {
    const { config } = read({ liquidLegionsV2: FREQUENCY });
    expect(liquidLegionsOf(config!)).toEqual({ protocol: 'liquidLegionsV2', config: FREQUENCY });
    const { config: reachOnly } = read({ reachOnlyLiquidLegionsV2: REACH_ONLY });
    expect(liquidLegionsOf(reachOnly!)).toEqual({ protocol: 'reachOnlyLiquidLegionsV2', config: REACH_ONLY });
    expect(liquidLegionsOf({ direct: {} })).toBeUndefined();
  });
});

describe('the requested protocol', () => {
  const wish = (value: object) => decode(ProtocolWish, parseJson(JSON.stringify(value)), []);
  const faultOf = (value: object) => {
    try {
      wishedProtocol(wish(value), 'protocolConfig');
    } catch (error) {
      return (error as ExchangeError).violations?.map(({ field }) => field);
    }
  };

  it('is the name of the only member, whatever its content', () => {
    expect(wishedProtocol(undefined, 'protocolConfig')).toBeUndefined();
    expect(wishedProtocol(wish({ liquidLegionsV2: {} }), 'protocolConfig')).toBe('liquidLegionsV2');
    expect(wishedProtocol(wish({ measurementType: 'REACH', direct: { a: [1] } }), 'protocolConfig')).toBe(
      'direct',
    );
  });

  it('is rejected unless there is exactly one', () => {
    expect(faultOf({})).toEqual(['protocolConfig']);
    expect(faultOf({ direct: {}, liquidLegionsV2: {} })).toEqual(['protocolConfig']);
    expect(faultOf({ direct: null, liquidLegionsV2: {} })).toBeUndefined();
  });

  it('is rejected if it is unknown', () => {
    const violations: Violation[] = [];
    decode(ProtocolWish, parseJson('{"quantum": {}}'), violations);
    expect(violations.map(({ field }) => field)).toEqual(['quantum']);
  });
});
