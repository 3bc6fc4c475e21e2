/**
 * Tests the noise in a ring of three duchies. Each coalition of parties sees the counts from many runs of two test
 * worlds, which differ only in one person's data. The counts come from the model that ring.test.ts checks against real
 * messages. Each coalition combines its counts into a score, with the weights of a likelihood ratio test.
 */

import { frequencyParameters } from '@measurement-exchange/mpc/protocols/liquidLegionsV2/limits';
import { reachOnlyParameters } from '@measurement-exchange/mpc/protocols/reachOnlyLiquidLegionsV2/limits';
import { type Charge, legionsCharge } from '@measurement-exchange/sdk';
import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { expect, test } from 'vitest';
import { drawNoise, type Noise, type PlainRegister, sumOf, type View, viewOf } from './ringModel.ts';
import { compareWorlds, expectHidden, promisedAdvantage, RUNS, type WorldNumber } from './worlds.ts';

const NOISE = {
  privacyParams: { epsilon: 1, delta: 0.01 },
  frequencyPrivacyParams: { epsilon: 1.5, delta: 0.01 },
  histogramPrivacyParams: { epsilon: 0.9, delta: 0.01 },
  publisherPrivacyParams: { epsilon: 0.7, delta: 0.01 },
};
const SPEC = {
  ...({ decayRate: 1, maxSize: 30, noiseMechanism: 'DISCRETE_GAUSSIAN' } as const),
  ...{ dataProviderCount: 2, duchyCount: 3, maximumFrequency: 3, ...NOISE },
};

const FULL = frequencyParameters(SPEC);
const REACH_ONLY = reachOnlyParameters(SPEC);
const common = {
  ...({ noiseMechanism: 'DISCRETE_GAUSSIAN', reachPrivacyParams: NOISE.privacyParams } as const),
  ...{ dataProviders: 2, duchies: 3 },
  histogramPrivacyParams: NOISE.histogramPrivacyParams,
  publisherPrivacyParams: NOISE.publisherPrivacyParams,
};
const CHARGES = {
  full: legionsCharge({
    ...{ ...common, frequencyPrivacyParams: NOISE.frequencyPrivacyParams },
    measurementType: 'REACH_AND_FREQUENCY',
  }),
  reachOnly: legionsCharge({ ...common, measurementType: 'REACH' }),
};

const register = (index: string, key = 'k', count = 1): PlainRegister => ({ index, key, count });
/** The registers of the victim's provider in world 0. In world 1, the provider also has the register `person`. */
const VICTIM = [register('1'), register('2', 'l', 2)];

interface Coalition {
  who: string;
  protocol: 'full' | 'reachOnly';
  person: PlainRegister;
  other: PlainRegister[];
  /** The number of duchies, among the three, whose noise the coalition knows. */
  known: 0 | 1;
  /**
   * Returns the weighted sum of the counts that the coalition sees. The weights are those of a likelihood ratio test.
   */
  score: (view: View) => number;
}

const of = (parameters: { reachNoise: { variance: number }; publisherNoise: { variance: number } }) => ({
  reach: 1 / parameters.reachNoise.variance,
  publisher: 1 / parameters.publisherNoise.variance,
});
const used = ({ groups, histogram }: View) => groups.reduce((sum, count) => sum + count, 0) - histogram;
const weights = of(FULL);
const byHistogram = 1 / FULL.histogramNoise.variance;
const byFrequency = 1 / FULL.frequencyNoise.variance;
const alone = (view: View) => weights.reach * used(view) - weights.publisher * view.publisher;
const shared = ({ groups, publisher }: View) => byHistogram * groups[1]! - weights.publisher * publisher;
const figures = (place: number) => (view: View) =>
  weights.reach * used(view) + byFrequency * view.frequency[place]!;

const COALITIONS: Coalition[] = [
  {
    who: 'the aggregator: a register that no other provider has',
    protocol: 'reachOnly',
    person: register('x'),
    other: [],
    known: 1,
    score: alone,
  },
  {
    who: 'the aggregator: a register that all providers have',
    protocol: 'reachOnly',
    person: register('x'),
    other: [register('x')],
    known: 1,
    score: shared,
  },
  {
    who: 'the aggregator: a person at frequency 1',
    protocol: 'full',
    person: register('x'),
    other: [],
    known: 1,
    score: (view) => alone(view) + byFrequency * view.frequency[0]!,
  },
  {
    who: 'the aggregator: a person at the highest frequency',
    protocol: 'full',
    person: register('x', 'k', 9),
    other: [],
    known: 1,
    score: (view) => alone(view) + byFrequency * view.frequency[2]!,
  },
  {
    who: 'the aggregator: a register with several people',
    protocol: 'full',
    person: register('x', 'm'),
    other: [register('x')],
    known: 1,
    score: (view) => shared(view) + byFrequency * (view.several - view.frequency[0]!),
  },
  {
    who: 'a worker with the consumer: the reach without its own noise',
    protocol: 'reachOnly',
    person: register('x'),
    other: [],
    known: 1,
    score: used,
  },
  {
    who: 'a worker with the consumer: the number of tuples and of comparisons',
    protocol: 'full',
    person: register('x'),
    other: [],
    known: 1,
    score: (view) =>
      weights.reach * used(view) + byFrequency * view.frequency.reduce((sum, count) => sum + count, 0),
  },
  {
    who: 'the consumer alone',
    protocol: 'full',
    person: register('x'),
    other: [],
    known: 0,
    score: figures(0),
  },
  {
    who: 'a provider that has the register more often than there are providers',
    protocol: 'full',
    person: register('x'),
    other: [register('x'), register('x')],
    known: 0,
    score: (view) => -figures(1)(view),
  },
  {
    who: 'a provider that uploads the key of histogram noise',
    protocol: 'full',
    person: register('x'),
    other: [register('x', 'histogram')],
    known: 0,
    score: figures(0),
  },
  {
    who: 'a provider that uploads a count of −1',
    protocol: 'full',
    person: register('x', 'k', 2),
    other: [register('x', 'k', -1)],
    known: 0,
    score: figures(0),
  },
];

/** Draws the noise of three duchies for each run of each world. All coalitions of a protocol see the same runs. */
function drawRuns(protocol: Coalition['protocol']): [Noise[][], Noise[][]] {
  const parameters = protocol === 'full' ? FULL : REACH_ONLY;
  const draws = new Dice(`noise of ${protocol}`);
  const ofDuchy = () => drawNoise(parameters, { registers: draws.seed(), tuples: draws.seed() });
  const ofWorld = () => Array.from({ length: RUNS }, () => Array.from({ length: 3 }, ofDuchy));
  return [ofWorld(), ofWorld()];
}
const DRAWN = { full: drawRuns('full'), reachOnly: drawRuns('reachOnly') };

test.each(COALITIONS)(
  'the worlds differ by at most the charge for $who ($protocol)',
  async ({ protocol, person, other, known, score }) => {
    const parameters = protocol === 'full' ? FULL : REACH_ONLY;
    const run = (world: WorldNumber, i: number) =>
      score(
        viewOf(
          parameters,
          [world === 1 ? [...VICTIM, person] : VICTIM, [register('9'), ...other]],
          sumOf(DRAWN[protocol][world][i]!.slice(known)),
        ),
      );
    expectHidden(await compareWorlds(run), promisedAdvantage(CHARGES[protocol] as Charge));
  },
);

test('every coalition distinguishes the worlds without noise', async () => {
  for (const { protocol, person, other, score } of COALITIONS) {
    const parameters = protocol === 'full' ? FULL : REACH_ONLY;
    const none: Noise = {
      reach: 0,
      publisher: 0,
      several: 0,
      duchies: 0,
      histogram: [0, 0],
      frequency: protocol === 'full' ? [0, 0, 0] : [],
    };
    const run = (world: WorldNumber) =>
      score(
        viewOf(parameters, [world === 1 ? [...VICTIM, person] : VICTIM, [register('9'), ...other]], none),
      );
    expect((await compareWorlds(run, 10)).advantage).toBe(1);
  }
});
