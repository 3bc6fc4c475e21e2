/** The arithmetic of Honest Majority Share Shuffle, against what is true of small worlds. */
import type { PlantedBug } from '../plant.ts';
import { inDuchy, inProvider, test } from './edits.ts';

const ofDuchy = (file: string, name: string) => test(`duchy/src/shareShuffle/${file}.test.ts`, name);
const ofSdk = (file: string, name: string) => test(`sdk/src/provider/shareShuffle/${file}.test.ts`, name);

export const SHARE_SHUFFLE_BUGS: PlantedBug[] = [
  {
    name: 'noise-drawn-again',
    edits: [
      inDuchy(
        'shareShuffle/noiseRegisters.ts',
        'const random = new Keystream(seed);',
        'const random = new Keystream(crypto.getRandomValues(seed.slice()));',
      ),
    ],
    foundBy: ofDuchy('shuffleThread', 'gives the same bytes again'),
  },
  {
    name: 'noise-not-added',
    edits: [inDuchy('shareShuffle/noiseRegisters.ts', 'registers.fill(frequency, at, at + count);', '')],
    foundBy: ofDuchy('noiseRegisters', 'have some of each'),
  },
  {
    name: 'sum-out-of-range-accepted',
    edits: [
      inDuchy(
        'shareShuffle/estimate.ts',
        'if (counts[value] === 0) continue;',
        'if (counts[value]! >= 0) break;',
      ),
    ],
    foundBy: ofDuchy('oracle', 'one wrong byte of a share'),
  },
  {
    name: 'number-of-providers-shown',
    edits: [
      inDuchy(
        'shareShuffle/shuffleStage.ts',
        "parameters.measurementType === 'REACH'",
        'parameters.modulus === 0',
      ),
    ],
    foundBy: ofDuchy('shuffleStage', 'the stage hides how many providers reached a person'),
  },
  {
    name: 'people-in-their-order',
    edits: [
      inDuchy(
        'shareShuffle/shuffleStage.ts',
        'shuffle(values, keystream.bytes(SEED_BYTES));',
        'shuffle(values.subarray(0, 0), keystream.bytes(SEED_BYTES));',
      ),
    ],
    foundBy: ofDuchy('shuffleStage', 'sees how often people were reached, but not who they are'),
  },
  {
    name: 'share-of-another-ring-accepted',
    edits: [inProvider('shareShuffle/framing.ts', '!areBelow(this.modulus, values)', 'values.length < 0')],
    foundBy: ofSdk('framing', 'a value that is the modulus'),
  },
  {
    name: 'rest-of-batch-not-skipped',
    edits: [inProvider('shareShuffle/keystream.ts', 'this.keystream.skip(this.batch);', '')],
    foundBy: ofSdk('keystream', 'are those of the rule'),
  },
];
