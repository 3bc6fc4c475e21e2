import type { MeasurementType, Protocol } from '@measurement-exchange/contract';
import { describe, expect, it } from 'vitest';
import { chooseProtocol, reachIsNotDeduplicated } from './protocol.ts';

const HMSS = 'honestMajorityShareShuffle';
const RO = 'reachOnlyLiquidLegionsV2';
const LL = 'liquidLegionsV2';
const ALL: Protocol[] = [LL, RO, HMSS];

const choose = (type: MeasurementType | undefined, supported: Protocol[][], enabled: Protocol[] = ALL) =>
  chooseProtocol(type, supported, new Set(enabled));

describe('the protocol of a measurement', () => {
  it('is the first that computes the type, that is enabled, and that all providers can', () => {
    expect(choose('REACH', [ALL, ALL])).toBe(HMSS);
    expect(choose('REACH_AND_FREQUENCY', [ALL, ALL])).toBe(HMSS);
    expect(choose('REACH', [ALL, ALL], [LL, RO])).toBe(RO);
    expect(choose('REACH_AND_FREQUENCY', [ALL, ALL], [LL, RO])).toBe(LL);
    expect(choose('REACH', [ALL, [LL, RO]])).toBe(RO);
    expect(choose('REACH', [ALL, [LL, HMSS], [LL, RO]])).toBe(LL);
    expect(choose('REACH', [ALL, ALL], [LL])).toBe(LL);
  });

  it('is direct where none fits', () => {
    expect(choose('REACH', [ALL, []])).toBe('direct');
    expect(choose('REACH', [[RO], [LL]])).toBe('direct');
    expect(choose('REACH', [ALL, ALL], [])).toBe('direct');
    expect(choose('REACH_AND_FREQUENCY', [[RO], [RO]])).toBe('direct');
  });

  it.each<MeasurementType | undefined>(['IMPRESSION', 'DURATION', 'POPULATION', undefined])(
    'is direct for %s',
    (type) => {
      expect(choose(type, [ALL, ALL])).toBe('direct');
    },
  );

  it('is direct with one provider, since there is nothing to deduplicate', () => {
    expect(choose('REACH', [ALL])).toBe('direct');
  });
});

describe('reach without its union', () => {
  it('results from direct results of several providers', () => {
    expect(reachIsNotDeduplicated('REACH', 'direct', 2)).toBe(true);
    expect(reachIsNotDeduplicated('REACH_AND_FREQUENCY', 'direct', 2)).toBe(true);
  });

  it('is neither that of one provider, nor what a protocol unites, nor of another type', () => {
    expect(reachIsNotDeduplicated('REACH', 'direct', 1)).toBe(false);
    expect(reachIsNotDeduplicated('REACH', LL, 2)).toBe(false);
    expect(reachIsNotDeduplicated('IMPRESSION', 'direct', 2)).toBe(false);
    expect(reachIsNotDeduplicated(undefined, 'direct', 2)).toBe(false);
  });
});
