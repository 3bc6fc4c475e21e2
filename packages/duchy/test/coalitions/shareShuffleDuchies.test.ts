/**
 * Tests curious and lying duchies in the share shuffle protocol: an aggregator that inspects its data, and a worker
 * that lies or inspects its data together with the consumer.
 */
import { mpcCharge } from '@measurement-exchange/sdk';
import { Dice, type World } from '@measurement-exchange/testkit/mpc/world';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { beforeAll, describe, expect, test } from 'vitest';
import { type Played, peopleAt, play, type WorkerView, withAdded, withoutNoise } from './shareShuffle.ts';
import { compareViews, expectHidden, playWorlds, promisedAdvantage, RUNS, type Views } from './worlds.ts';

const MAXIMUM = 4;
const REACH_PARAMS = { epsilon: 0.6, delta: 1e-5 };
const FREQUENCY_PARAMS = { epsilon: 0.5, delta: 1e-6 };
const PEOPLE = 30;
const TARGET = 7;
/** The number of times that the target was reached in each of the two test worlds. */
const TRUTH = { REACH: [0, 1], REACH_AND_FREQUENCY: [2, 3] } as const;

type Kind = keyof typeof TRUTH;

function specOf(
  measurementType: Kind,
  noiseMechanism: World['spec']['noiseMechanism'],
  reachPrivacyParams = REACH_PARAMS,
): World['spec'] {
  if (measurementType === 'REACH') {
    return { ringModulus: 11, noiseMechanism, measurementType, privacyParams: reachPrivacyParams };
  }
  const params = { reachPrivacyParams, frequencyPrivacyParams: FREQUENCY_PARAMS };
  return { ringModulus: 11, noiseMechanism, measurementType, maximumFrequency: MAXIMUM, ...params };
}

/** Runs both worlds with two providers. Only the first provider reached the target, as often as `TRUTH` says. */
function played(
  title: string,
  spec: World['spec'],
  { lyingWorker, runs = RUNS }: { lyingWorker?: (view: WorkerView) => Uint8Array; runs?: number } = {},
): Promise<Views<Played>> {
  const dice = new Dice(title);
  const kind = spec.measurementType;
  return playWorlds((world) => {
    const victim = Uint8Array.from({ length: PEOPLE }, (_, i) => i % (kind === 'REACH' ? 2 : MAXIMUM + 1));
    victim[TARGET] = TRUTH[kind][world];
    const other = Uint8Array.from({ length: PEOPLE }, (_, i) => (i % 3 === 2 ? 1 : 0));
    return play(spec, [victim, other], dice, lyingWorker);
  }, runs);
}

const zeros = (registers: Uint8Array) => registers.filter((value) => value === 0).length;

/** The noise mechanism for each type of measurement. Only stress runs test both mechanisms for both types. */
const CASES: [Kind, 'DISCRETE_GAUSSIAN' | 'GEOMETRIC'][] = [
  ['REACH', 'DISCRETE_GAUSSIAN'],
  ['REACH_AND_FREQUENCY', 'GEOMETRIC'],
];
if (isStress) CASES.push(['REACH', 'GEOMETRIC'], ['REACH_AND_FREQUENCY', 'DISCRETE_GAUSSIAN']);

describe.each(CASES)('a %s measurement with %s noise', (kind, noiseMechanism) => {
  const charge = mpcCharge({
    ...{ measurementType: kind, noiseMechanism },
    ...{ reachPrivacyParams: REACH_PARAMS, frequencyPrivacyParams: FREQUENCY_PARAMS },
  });
  const promised = promisedAdvantage(charge);
  const spec = specOf(kind, noiseMechanism);
  /**
   * Returns the consumer's evidence about the target. For reach, a higher value suggests that the target was reached.
   * For frequency, a higher value suggests that the target was reached 3 times instead of 2.
   */
  const found = ({ figures }: Played) =>
    kind === 'REACH' ? figures!.reach : peopleAt(3, figures!) - peopleAt(2, figures!);
  let honest: Views<Played>;
  beforeAll(async () => {
    honest = await played(`honest ${kind} ${noiseMechanism}`, spec);
  });

  test('reveals at most the charge to a curious aggregator', () => {
    const compared = compareViews(honest, ({ counts }) =>
      kind === 'REACH' ? -counts[0]! : counts[3]! - counts[2]!,
    );
    expectHidden(compared, promised);
  });

  test('reveals at most the charge to a curious worker with the consumer', () => {
    const compared = compareViews(honest, (view) => {
      const own = (value: number) => view.ownNoise.filter((each) => each === value).length;
      return kind === 'REACH' ? found(view) + zeros(view.ownNoise) : found(view) - own(3) + own(2);
    });
    expectHidden(compared, promised);
  });

  test('reveals at most the charge to a worker that removes the noise, with the consumer', async () => {
    const lied = await played(`lying ${kind} ${noiseMechanism}`, spec, { lyingWorker: withoutNoise });
    expectHidden(compareViews(lied, found), promised);
  });
});

test('a reach with little geometric noise reveals at most the charge to a worker with the consumer', async () => {
  // Use little noise, so that 600 runs are enough. If the other worker's half of a draw were the only remaining noise,
  // the advantage would be 0.44, although the charge promises at most 0.24.
  const reachPrivacyParams = { epsilon: 1, delta: 1e-5 };
  const spec = specOf('REACH', 'GEOMETRIC', reachPrivacyParams);
  const views = await played('half a draw', spec, { runs: Math.max(600, RUNS) });
  const charge = mpcCharge({ measurementType: 'REACH', noiseMechanism: 'GEOMETRIC', reachPrivacyParams });
  const compared = compareViews(views, ({ figures, ownNoise }) => figures!.reach + zeros(ownNoise));
  expectHidden(compared, promisedAdvantage(charge));
});

test.each(['REACH', 'REACH_AND_FREQUENCY'] as const)(
  'a worker that adds random values to the registers of a %s does not see the target in the outcome',
  async (kind) => {
    const dice = new Dice(`any registers ${kind}`);
    const spec = specOf(kind, 'NONE');
    const anything = () => Uint8Array.from({ length: PEOPLE }, () => dice.below(spec.ringModulus));
    const lyingWorker = (view: WorkerView) => withAdded(view, anything());
    const views = await played(`any outcome ${kind}`, spec, { lyingWorker });
    expect(compareViews(views, ({ figures }) => (figures === undefined ? 1 : 0)).advantage).toBe(0);
  },
);

test.each(['REACH', 'REACH_AND_FREQUENCY'] as const)(
  'a worker that removes the noise of a %s determines the values of the noise registers',
  async (kind) => {
    const dice = new Dice(`places ${kind}`);
    const nobody = [new Uint8Array(PEOPLE), new Uint8Array(PEOPLE)];
    for (let i = 0; i < rounds(20, 5); i++) {
      const { counts, parameters } = await play(
        specOf(kind, 'DISCRETE_GAUSSIAN'),
        nobody,
        dice,
        withoutNoise,
      );
      const { noiseRegisterCount, reachNoise, frequencyNoise } = parameters;
      if (kind === 'REACH') {
        // The worker adds 1 to the other worker's noise registers, so only those with the value modulus − 1 become 0.
        expect(counts[0]! - PEOPLE - noiseRegisterCount).toBeLessThan(8);
      } else {
        const expected = [PEOPLE + 2 * reachNoise.offset, ...[1, 2, 3].map(() => 2 * frequencyNoise.offset)];
        expect([...counts.subarray(0, MAXIMUM)]).toEqual(expected);
      }
    }
  },
);
