/** When the agent of a data provider answers, holds and takes up requisitions, in the SDK. */
import type { PlantedBug } from '../plant.ts';
import { inProvider, test } from './edits.ts';

const DEFERRAL_TEST = test('sdk/src/provider/deferral.test.ts');
const VERIFY_TEST = test('sdk/src/provider/verify.test.ts');
const deferringTest = (name: string) => test('sdk/test/provider/agentDeferring.test.ts', name);

export const AGENT_BUGS: PlantedBug[] = [
  {
    name: 'no-grace-after-the-interval',
    edits: [
      inProvider('deferral.ts', '(recordedUntil === undefined ? 0 : graceHours * HOUR_MS)', '0 * graceHours'),
    ],
    foundBy: DEFERRAL_TEST,
  },
  {
    name: 'only-first-event-group-awaited',
    edits: [inProvider('deferral.ts', 'of awaited) {', 'of awaited.filter((one) => one === events[0])) {')],
    foundBy: DEFERRAL_TEST,
  },
  {
    name: 'answered-before-the-interval-ends',
    edits: [
      inProvider(
        'deferral.ts',
        'return recordedUntil !== undefined && new Date(recordedUntil) >= end;',
        'return recordedUntil === undefined || new Date(recordedUntil) >= end;',
      ),
    ],
    foundBy: deferringTest('before the end of an interval'),
  },
  {
    name: 'grace-setting-not-passed-on',
    edits: [
      inProvider(
        'agent.ts',
        'await requireComputable(verified, methodology); requireRecorded(verified.selection, clock.now(), options.graceHours);',
        'await requireComputable(verified, methodology); requireRecorded(verified.selection, clock.now());',
      ),
    ],
    foundBy: deferringTest('for as long as its settings say'),
  },
  {
    // A consumer's timeline grows with every hour that it waits.
    name: 'deferred-every-hour',
    edits: [
      inProvider('deferral.ts', 'FIRST_DEFERRAL_MS * 2 ** earlier', 'FIRST_DEFERRAL_MS * 2 ** (0 * earlier)'),
    ],
    foundBy: DEFERRAL_TEST,
  },
  {
    name: 'no-floor-for-epsilon',
    edits: [
      inProvider(
        'limits.ts',
        'if (epsilon >= minimum) continue;',
        'if (epsilon >= minimum || true) continue;',
      ),
    ],
    foundBy: VERIFY_TEST,
  },
  {
    name: 'floor-for-the-reach-only',
    edits: [
      inProvider(
        'limits.ts',
        'for (const [field, { epsilon }] of paramsByField(spec)) {',
        'for (const [field, { epsilon }] of paramsByField(spec).slice(0, 1)) {',
      ),
    ],
    foundBy: VERIFY_TEST,
  },
];
