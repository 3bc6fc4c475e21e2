/** What a duchy checks before it computes, and what it sends. */
import type { PlantedBug } from '../plant.ts';
import { inDuchy, test } from './edits.ts';

const found = (title: string) => test('duchy/test/stages/verification.test.ts', title);
const accepted = (title: string) => test('duchy/src/herald/accept.test.ts', title);

export const DUCHY_BUGS: PlantedBug[] = [
  {
    name: 'any-noise',
    edits: [
      inDuchy('herald/accept.ts', 'if (!duchy.noiseMechanisms.includes(noiseMechanism)) {', 'if (false) {'),
    ],
    foundBy: accepted('the noise is not one of the settings'),
  },
  {
    name: 'spec-of-anybody',
    edits: [
      inDuchy(
        'herald/accept.ts',
        "await requireConsent('measurementSpec', verifySignature(measurementSpec, certificate));",
        '',
      ),
    ],
    foundBy: accepted('its consumer did not sign it'),
  },
  {
    // The exchange says later that there is no noise.
    name: 'changed-after-acceptance',
    edits: [inDuchy('herald/follow.ts', 'if (fixedPart(stored.view) !== fixedPart(view)) {', 'if (false) {')],
    foundBy: found('an exchange that changes what was accepted fails the computation'),
  },
  {
    name: 'seed-of-anybody',
    edits: [
      inDuchy('stages/shuffle.ts', 'await requireConsent(what, verifySignature(signed, certificate));', ''),
    ],
    foundBy: found('a seed that another key signed fails the computation'),
  },
  {
    name: 'seed-twice',
    edits: [inDuchy('stages/shuffle.ts', 'if (secretSeeds.length !== expected.length || ', 'if (')],
    foundBy: found('have one twice'),
  },
  {
    name: 'other-noise-after-a-crash',
    edits: [
      inDuchy(
        'stages/shuffle.ts',
        'noiseSeed: noiseSeed! }',
        'noiseSeed: crypto.getRandomValues(noiseSeed!.map(() => 0)) }',
      ),
    ],
    foundBy: test(
      'duchy/test/stages/noise.test.ts',
      'is the same where a stage is repeated, which computes the same bytes',
    ),
  },
  {
    // The exchange reads what duchies send each other.
    name: 'key-of-anybody',
    edits: [inDuchy('peers/key.ts', 'verifySignature(publicKey, certificate)', 'Promise.resolve()')],
    foundBy: test('duchy/test/stages/lies.test.ts', 'a key that the other worker did not sign'),
  },
  {
    // Who was down never gets it.
    name: 'sent-only-once',
    edits: [
      inDuchy(
        'mills/mill.ts',
        'await deliver(duchy, computation, message, signal);',
        'await deliver(duchy, computation, message, signal).catch(() => undefined);',
      ),
    ],
    foundBy: test('duchy/test/stages/crashes.test.ts', 'may be down for a while'),
  },
  {
    name: 'outage-of-another-counts',
    edits: [inDuchy('mills/mill.ts', 'counts: !waits', 'counts: true')],
    foundBy: test('duchy/test/stages/crashes.test.ts', 'may be down for a while'),
  },
];
