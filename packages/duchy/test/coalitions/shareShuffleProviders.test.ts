/**
 * Tests lying providers in the share shuffle protocol: alone, with the consumer, and with an aggregator that inspects
 * its data.
 */
import { mpcCharge } from '@measurement-exchange/sdk';
import { Dice } from '@measurement-exchange/testkit/mpc/world';
import { isStress } from '@measurement-exchange/testkit/rounds';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Played, peopleAt, play } from './shareShuffle.ts';
import { compareViews, expectHidden, playWorlds, promisedAdvantage, type Views } from './worlds.ts';

/**
 * The modulus of the registers. Two honest providers report a frequency of at most 8 in total, and the marker value is
 * 18, so sums from 9 to 17 occur only if a provider lies.
 */
const MODULUS = 19;
const MARK = MODULUS - 1;
const MAXIMUM = 4;
const PARAMS = {
  reachPrivacyParams: { epsilon: 0.6, delta: 1e-5 },
  frequencyPrivacyParams: { epsilon: 0.5, delta: 1e-6 },
};
const PEOPLE = 20;
const TARGET = 7;

/**
 * `truth` is the number of times that the other provider reached the target in each of the two test worlds. `lie` is
 * the value that the lying provider uploads for the target.
 */
const LIES: [
  what: string,
  mechanism: 'DISCRETE_GAUSSIAN' | 'GEOMETRIC',
  truth: [number, number],
  lie: number,
][] = [
  ['the most that is allowed, or one more', 'DISCRETE_GAUSSIAN', [2, 3], 6],
  ['far above what is allowed', 'GEOMETRIC', [2, 3], 10],
  ['the mark, or nobody', 'DISCRETE_GAUSSIAN', [0, 1], MARK],
];
if (isStress) {
  LIES.push(
    ['far above what is allowed', 'DISCRETE_GAUSSIAN', [2, 3], 10],
    ['the highest value that counts, or the one below', 'DISCRETE_GAUSSIAN', [2, 3], 14],
  );
}

describe.each(LIES)(
  'a provider that makes a register %s, with %s noise',
  (what, noiseMechanism, truth, lie) => {
    const charge = mpcCharge({ measurementType: 'REACH_AND_FREQUENCY', noiseMechanism, ...PARAMS });
    /** The values of the target's register in the two worlds. */
    const [one, other] = truth.map((times) => (times + lie) % MODULUS) as [number, number];
    let views: Views<Played>;

    beforeAll(async () => {
      const dice = new Dice(`${what} ${noiseMechanism}`);
      const spec = {
        ...PARAMS,
        ...{ ringModulus: MODULUS, noiseMechanism, maximumFrequency: MAXIMUM },
        measurementType: 'REACH_AND_FREQUENCY' as const,
      };
      views = await playWorlds((world) => {
        const victim = Uint8Array.from({ length: PEOPLE }, (_, i) => i % (MAXIMUM + 1));
        victim[TARGET] = truth[world];
        const liar = new Uint8Array(PEOPLE);
        liar[TARGET] = lie;
        return play(spec, [victim, liar], dice);
      });
    });

    test('alone sees no outcome that depends on another provider', () => {
      expect(compareViews(views, ({ figures }) => (figures === undefined ? 1 : 0)).advantage).toBe(0);
    });

    test('learns at most the charge together with the consumer', () => {
      const compared = compareViews(views, ({ figures }) => {
        if (figures === undefined) return -1e6;
        // A register at 0 counts as not reached, and a value above the maximum counts as the maximum.
        const seen = (value: number) =>
          value === 0 ? -figures.reach : peopleAt(Math.min(value, MAXIMUM), figures);
        return seen(other) - seen(one);
      });
      expectHidden(compared, promisedAdvantage(charge));
    });

    test('learns at most the charge together with a curious aggregator', () => {
      // The number of markers follows from the other counts, so it carries no information of its own.
      const compared = compareViews(
        views,
        ({ counts }) => (other === MARK ? 0 : counts[other]!) - (one === MARK ? 0 : counts[one]!),
      );
      expectHidden(compared, promisedAdvantage(charge));
    });
  },
);
