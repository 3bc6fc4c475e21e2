import { expect, it } from 'vitest';
import type { LiquidLegionsV2Config, ShareShuffleConfig } from './protocolConfig.ts';
import { stepsOf } from './protocolSteps.ts';

const ring = { workers: ['duchies/b', 'duchies/a'], aggregator: 'duchies/c' } as LiquidLegionsV2Config;
const printed = (config: Parameters<typeof stepsOf>[0]) =>
  stepsOf(config).map(({ step, duchy, stage }) => `${step} ${duchy.at(-1)} ${stage}`);

it('stepsOf returns two setups, a parallel shuffle and the aggregation for share-shuffle', () => {
  const config = { firstWorker: 'duchies/a', secondWorker: 'duchies/b', aggregator: 'duchies/c' };
  expect(printed({ honestMajorityShareShuffle: config as ShareShuffleConfig })).toEqual([
    '1 a SETUP_PHASE',
    '2 b SETUP_PHASE',
    '3 a SHUFFLE_PHASE',
    '3 b SHUFFLE_PHASE',
    '4 c AGGREGATION_PHASE',
  ]);
});

it('stepsOf returns the setup and one round of the ring for reach-only Liquid Legions', () => {
  expect(printed({ reachOnlyLiquidLegionsV2: ring })).toEqual([
    '1 b SETUP_PHASE',
    '1 a SETUP_PHASE',
    '2 c SETUP_PHASE',
    '3 b EXECUTION_PHASE',
    '4 a EXECUTION_PHASE',
    '5 c EXECUTION_PHASE',
  ]);
});

it('stepsOf returns the setup and three rounds of the ring for Liquid Legions with frequencies', () => {
  const steps = printed({ liquidLegionsV2: ring });
  expect(steps).toHaveLength(12);
  expect(steps.slice(3)).toEqual([
    '3 b EXECUTION_PHASE_ONE',
    '4 a EXECUTION_PHASE_ONE',
    '5 c EXECUTION_PHASE_ONE',
    '6 b EXECUTION_PHASE_TWO',
    '7 a EXECUTION_PHASE_TWO',
    '8 c EXECUTION_PHASE_TWO',
    '9 b EXECUTION_PHASE_THREE',
    '10 a EXECUTION_PHASE_THREE',
    '11 c EXECUTION_PHASE_THREE',
  ]);
});

it('stepsOf returns no steps for a direct protocol', () => {
  expect(stepsOf({ direct: {} })).toEqual([]);
});
