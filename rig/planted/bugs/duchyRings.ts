/** Planted bugs in the checks of a duchy in a ring. */
import type { PlantedBug } from '../plant.ts';
import { inDuchy, test } from './edits.ts';

const sketch = (title: string) => test('duchy/test/face/spoiledSketches.test.ts', title);
const ring = (title: string) => test('duchy/test/stages/liquidLegions.test.ts', title);

export const DUCHY_RING_BUGS: PlantedBug[] = [
  {
    name: 'sketch-of-no-points',
    edits: [
      inDuchy('protocols/liquidLegions/points.ts', 'await checkPoints(bytes.subarray(0, end), POOL);', ''),
    ],
    foundBy: sketch('a point that is not on the curve'),
  },
  {
    name: 'work-for-an-ending-thread',
    edits: [inDuchy('protocols/liquidLegions/pool.ts', 'this.options.onEnding(); await', 'await')],
    foundBy: test('duchy/src/protocols/liquidLegions/pool.test.ts', 'while a thread is ending'),
  },
  {
    name: 'threads-end-between-stages',
    edits: [
      inDuchy(
        'protocols/liquidLegions/pool.ts',
        'if (isNeeded) this.rest();',
        'if (isNeeded && !this) this.rest();',
      ),
    ],
    foundBy: test('duchy/src/protocols/liquidLegions/pool.test.ts', 'unless a keepWhile callback'),
  },
  {
    // With this bug, a duchy accepts a sketch that is encrypted for another key than that of the ring. The owner of
    // that key can decrypt the sketch.
    name: 'sketch-under-any-key',
    edits: [
      inDuchy(
        'protocols/liquidLegions/terms.ts',
        'if (equalBytes(combinedPublicKey, combined)) return undefined;',
        'if (combined) return undefined;',
      ),
    ],
    foundBy: sketch('the key of one duchy alone'),
  },
  {
    name: 'ring-of-provider-ignored',
    edits: [
      inDuchy(
        'protocols/liquidLegions/terms.ts',
        '!isDeepStrictEqual(signed[member], told[member])',
        'false',
      ),
    ],
    foundBy: sketch('workers in another order'),
  },
  {
    name: 'ring-keys-change-later',
    edits: [inDuchy('computations/follow.ts', ' || !keepsKeys(stored.view, view)', '')],
    foundBy: ring('another key of a duchy'),
  },
  {
    name: 'any-ring-config',
    edits: [
      inDuchy(
        'computations/accept.ts',
        'const [violation] = violationsOf(config);',
        'const [violation] = violationsOf(config).slice(0, 0);',
      ),
    ],
    foundBy: test('duchy/src/computations/acceptLegions.test.ts', 'epsilon of the histogram noise'),
  },
  {
    name: 'stages-share-a-seed',
    edits: [
      inDuchy(
        'stages/stageSeed.ts',
        "hkdfSync('sha256', noiseSeed!, '', stage, SEED_BYTES)",
        "hkdfSync('sha256', noiseSeed!, '', stage && '', SEED_BYTES)",
      ),
    ],
    foundBy: test('duchy/src/stages/stageSeed.test.ts', 'different seeds for other stages'),
  },
  {
    name: 'ring-noise-drawn-anew',
    edits: [
      inDuchy(
        'stages/stageSeed.ts',
        "hkdfSync('sha256', noiseSeed!,",
        "hkdfSync('sha256', crypto.getRandomValues(noiseSeed!),",
      ),
    ],
    foundBy: ring('a stage that is repeated computes the same bytes'),
  },
  {
    name: 'confirmed-without-nonces',
    edits: [inDuchy('protocols/liquidLegions/confirm.ts', 'await requireNonces(work);', '')],
    foundBy: ring('is not confirmed with a nonce'),
  },
  {
    name: 'confirmed-without-uploads',
    edits: [
      inDuchy(
        'protocols/liquidLegions/confirm.ts',
        'await requireUpload(work, upload, key);',
        'void [requireUpload, upload, key];',
      ),
    ],
    foundBy: ring('is not confirmed if a stored upload has'),
  },
  {
    name: 'registers-of-no-points',
    edits: [
      inDuchy(
        'protocols/liquidLegions/input.ts',
        'checkPoints(bytes, POOL, { signal: work.signal })',
        'Promise.resolve(checkPoints)',
      ),
    ],
    foundBy: ring('fails permanently on a false message'),
  },
  {
    name: 'registers-of-any-number',
    edits: [
      inDuchy(
        'protocols/liquidLegions/input.ts',
        'if (length >= least && length <= most) return bytes;',
        'if (length >= 0) return bytes;',
      ),
    ],
    foundBy: ring('fails permanently on a false message'),
  },
];
