/**
 * Planted bugs in the arithmetic of Honest Majority Share Shuffle. Tests that know the true figures of small worlds
 * find some of them.
 */
import type { PlantedBug } from '../plant.ts';
import { inDuchy, inMpc, test } from './edits.ts';

const ofStages = (file: string, name: string) =>
  test(`mpc/src/protocols/honestMajorityShareShuffle/${file}.test.ts`, name);
const inThread = (file: string, name: string) =>
  test(`duchy/src/protocols/honestMajorityShareShuffle/${file}.test.ts`, name);
const ofCoalitions = (file: string, name: string) => test(`duchy/test/coalitions/${file}.test.ts`, name);
const ofShares = (file: string, name: string) => test(`mpc/src/shares/${file}.test.ts`, name);

/** Behavior of an earlier version: noise only for values that two providers can report. */
const NO_NOISE_ABOVE = inMpc(
  'protocols/honestMajorityShareShuffle/noiseRegisters.ts',
  'value < mark;',
  'value <= 2 * parameters.maximumFrequency;',
);
const AGGREGATOR_ADDS_NOTHING = inMpc(
  'protocols/honestMajorityShareShuffle/estimate.ts',
  'NOISE_WORKERS * noise.offset + drawAggregatorNoise(noise, random)',
  'NOISE_WORKERS * noise.offset',
);

export const SHARE_SHUFFLE_BUGS: PlantedBug[] = [
  {
    name: 'noise-drawn-again',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/noiseRegisters.ts',
        'const random = new Keystream(seed);',
        'const random = new Keystream(crypto.getRandomValues(seed.slice()));',
      ),
    ],
    foundBy: inThread('shuffleThread', 'returns the same bytes for every chunk size'),
  },
  {
    name: 'noise-not-added',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/noiseRegisters.ts',
        'registers.fill(value, at, at + count);',
        '',
      ),
    ],
    foundBy: ofStages('noiseRegisters', 'have a draw for every value of the ring'),
  },
  {
    name: 'no-noise-above-the-maximum',
    edits: [NO_NOISE_ABOVE],
    foundBy: ofCoalitions('shareShuffleProviders', 'charge together with a curious aggregator'),
  },
  {
    name: 'no-noise-on-the-highest-value',
    edits: [
      inMpc('protocols/honestMajorityShareShuffle/noiseRegisters.ts', 'value < mark;', 'value < mark - 1;'),
    ],
    foundBy: ofStages('noiseRegisters', 'have a draw for every value of the ring'),
  },
  {
    name: 'worker-noise-of-the-frequency-at-zero',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/noiseRegisters.ts',
        'value === 0 ? reachNoise : frequencyNoise',
        'frequencyNoise',
      ),
    ],
    foundBy: ofStages('noiseRegisters', 'have a draw for every value of the ring'),
  },
  {
    name: 'worker-noise-of-the-reach-on-frequencies',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/noiseRegisters.ts',
        'value === 0 ? reachNoise : frequencyNoise',
        'reachNoise',
      ),
    ],
    foundBy: ofStages('noiseRegisters', 'have a draw for every value of the ring'),
  },
  {
    name: 'parameters-of-the-reach-for-frequencies',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/limits.ts',
        'frequencies ? spec.frequencyPrivacyParams : undefined',
        'frequencies ? spec.reachPrivacyParams : undefined',
      ),
    ],
    foundBy: ofStages('estimate', 'on a histogram is independent for each count'),
  },
  {
    name: 'parameters-of-the-frequency-for-the-reach',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/limits.ts',
        'frequencies ? spec.reachPrivacyParams : spec.privacyParams',
        'frequencies ? spec.frequencyPrivacyParams : spec.privacyParams',
      ),
    ],
    foundBy: ofStages('estimate', 'on a histogram is independent for each count'),
  },
  {
    // Behavior of an earlier version: values above what two providers can report have no noise, and a register with
    // such a value fails the computation.
    name: 'sum-out-of-range-fails',
    edits: [
      NO_NOISE_ABOVE,
      inMpc(
        'protocols/honestMajorityShareShuffle/estimate.ts',
        'const people = Array.from(',
        `if (counts.subarray(2 * maximumFrequency + 1, -1).some((count) => count > 0)) throw new Error('too much');
        const people = Array.from(`,
      ),
    ],
    foundBy: ofCoalitions('shareShuffleProviders', 'alone sees no outcome that depends on another provider'),
  },
  {
    name: 'frequency-of-nobody-fails',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/estimate.ts',
        'if (reached === 0) return { reach: 0, relativeFrequencyDistribution: new Map() };',
        "if (reached === 0) throw new Error('nobody');",
      ),
    ],
    foundBy: ofStages('oracle', 'are counted exactly without noise'),
  },
  {
    name: 'aggregator-adds-nothing',
    edits: [AGGREGATOR_ADDS_NOTHING],
    foundBy: ofCoalitions('shareShuffleDuchies', 'to a worker that removes the noise, with the consumer'),
  },
  {
    name: 'aggregator-adds-nothing-to-geometric-noise',
    edits: [AGGREGATOR_ADDS_NOTHING],
    foundBy: ofCoalitions('shareShuffleDuchies', 'a reach with little geometric noise'),
  },
  {
    name: 'reach-noise-not-drawn',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/noiseRegisters.ts',
        'const reached = drawMpcNoise(reachNoise, random);',
        'const reached = reachNoise.offset;',
      ),
    ],
    foundBy: ofCoalitions('shareShuffleDuchies', 'reveals at most the charge to a curious aggregator'),
  },
  {
    name: 'aggregator-part-of-one-worker',
    edits: [
      inMpc(
        'privacy/mpcNoise.ts',
        'sampleDiscreteGaussian(roundedUp(exactRational(noise.sigma ** 2)), random)',
        'sampleDiscreteGaussian(roundedUp(exactRational(noise.workerSigma ** 2)), random)',
      ),
    ],
    foundBy: ofStages('estimate', 'on a reach has the variance for the whole charge'),
  },
  {
    name: 'aggregator-noise-of-the-frequency-at-zero',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/estimate.ts',
        'frequency === 0 ? reachNoise : frequencyNoise',
        'frequencyNoise',
      ),
    ],
    foundBy: ofStages('estimate', 'on a histogram is independent for each count'),
  },
  {
    name: 'aggregator-noise-of-the-reach-on-frequencies',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/estimate.ts',
        'frequency === 0 ? reachNoise : frequencyNoise',
        'reachNoise',
      ),
    ],
    foundBy: ofStages('estimate', 'on a histogram is independent for each count'),
  },
  {
    name: 'aggregator-draws-again',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/estimate.ts',
        'new Keystream(input.noiseSeed)',
        'new Keystream(crypto.getRandomValues(input.noiseSeed.slice()))',
      ),
    ],
    foundBy: ofStages('estimate', 'is the same for the same seed'),
  },
  {
    name: 'aggregator-seed-not-stored',
    edits: [
      inDuchy(
        'protocols/honestMajorityShareShuffle/aggregate.ts',
        'stageSeed(await readSecrets(duchy.db, computation.id), computation.stage)',
        'crypto.getRandomValues(stageSeed(await readSecrets(duchy.db, computation.id), computation.stage))',
      ),
    ],
    foundBy: test(
      'duchy/test/stages/noise.test.ts',
      'of the aggregator is identical if its stage is repeated',
    ),
  },
  {
    name: 'aggregator-part-not-stated',
    edits: [
      { file: 'contract/src/protocols/shareShuffleLimits.ts', find: 'aggregatorAdds: true,', replace: '' },
    ],
    foundBy: test('sdk/src/consumer/deduplicated.test.ts', 'noise of both workers and the aggregator'),
  },
  {
    name: 'reach-charged-for-the-frequency',
    edits: [
      inMpc(
        'charges/computation.ts',
        'frequencyPrivacyParams: frequency }',
        'frequencyPrivacyParams: reach! }',
      ),
    ],
    foundBy: test('sdk/src/provider/multiParty/charge.test.ts', 'the rho of the counts that a unit changes'),
  },
  {
    name: 'second-piece-added-to-the-first',
    edits: [
      inMpc('protocols/honestMajorityShareShuffle/duchy.ts', 'use(at, values); } }', 'use(0, values); } }'),
    ],
    foundBy: ofStages('duchy', 'are added exactly, even if the uploads have uneven chunks'),
  },
  {
    name: 'number-of-providers-shown',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/duchy.ts',
        "parameters.measurementType === 'REACH'",
        'parameters.modulus === 0',
      ),
    ],
    foundBy: ofStages('duchy', 'but not by how many providers'),
  },
  {
    name: 'people-in-their-order',
    edits: [
      inMpc(
        'protocols/honestMajorityShareShuffle/duchy.ts',
        'shuffle(values, keystream.bytes(SEED_BYTES));',
        'shuffle(values.subarray(0, 0), keystream.bytes(SEED_BYTES));',
      ),
    ],
    foundBy: ofStages('duchy', 'how many people have each frequency, but not who they are'),
  },
  {
    name: 'share-of-another-ring-accepted',
    edits: [inMpc('shares/framing.ts', '!areBelow(this.modulus, values)', 'values.length < 0')],
    foundBy: ofShares('framing', 'a value equal to the modulus'),
  },
  {
    name: 'rest-of-batch-not-skipped',
    edits: [inMpc('shares/keystream.ts', 'this.keystream.skip(this.batch);', '')],
    foundBy: ofShares('keystream', 'follow the documented sampling rule'),
  },
];
