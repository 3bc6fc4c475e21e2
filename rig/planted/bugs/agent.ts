/** Planted bugs in the agent of a data provider: when it answers, defers and resumes requisitions. */
import type { PlantedBug } from '../plant.ts';
import { inProvider, test } from './edits.ts';

const DEFERRAL_TEST = test('sdk/src/provider/agent/deferral.test.ts');
const VERIFY_TEST = test('sdk/src/provider/verify.test.ts');
const HOLDING = 'sdk/test/provider/agentHolding.test.ts';
const deferringTest = (name: string) => test('sdk/test/provider/agentDeferring.test.ts', name);

export const AGENT_BUGS: PlantedBug[] = [
  {
    name: 'no-grace-after-the-interval',
    edits: [
      inProvider(
        'agent/deferral.ts',
        '(recordedUntil === undefined ? 0 : graceHours * HOUR_MS)',
        '0 * graceHours',
      ),
    ],
    foundBy: DEFERRAL_TEST,
  },
  {
    name: 'only-first-event-group-awaited',
    edits: [inProvider('agent/deferral.ts', 'of events) {', 'of events.slice(0, 1)) {')],
    foundBy: DEFERRAL_TEST,
  },
  {
    name: 'answered-before-the-interval-ends',
    edits: [
      inProvider(
        'agent/deferral.ts',
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
        'agent/responder.ts',
        'requireRecorded(verified.selection, clock.now(), graceHours); const onProgress',
        'requireRecorded(verified.selection, clock.now()); const onProgress',
      ),
    ],
    foundBy: deferringTest('not longer than graceHours'),
  },
  {
    // With this bug, the agent defers a requisition every hour instead of at growing intervals. These deferrals fill
    // the timeline that the consumer sees.
    name: 'deferred-every-hour',
    edits: [
      inProvider(
        'agent/deferral.ts',
        'FIRST_DEFERRAL_MS * 2 ** earlier',
        'FIRST_DEFERRAL_MS * 2 ** (0 * earlier)',
      ),
    ],
    foundBy: DEFERRAL_TEST,
  },
  {
    name: 'no-floor-for-epsilon',
    edits: [
      inProvider(
        'verify/limits.ts',
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
        'verify/limits.ts',
        'for (const [field, { epsilon }] of paramsByField(spec)) {',
        'for (const [field, { epsilon }] of paramsByField(spec).slice(0, 1)) {',
      ),
    ],
    foundBy: VERIFY_TEST,
  },
  {
    name: 'unserved-reference-answered',
    edits: [inProvider('agent/served.ts', 'if (others.size > 0) throw', 'if (others.size < 0) throw')],
    foundBy: test(HOLDING, 'holds a requisition for an unconfirmed reference'),
  },
  {
    name: 'only-first-reference-served',
    edits: [
      inProvider(
        'agent/served.ts',
        'events.map(({ reference }) => reference)',
        'events.slice(0, 1).map(({ reference }) => reference)',
      ),
    ],
    foundBy: test(HOLDING, 'if one reference is unconfirmed'),
  },
  {
    // With this bug, a reference that the settings only list, without `served: true`, counts as served.
    name: 'listed-reference-taken-as-served',
    edits: [
      inProvider(
        'agent/served.ts',
        'references[reference]!.served === true',
        'references[reference]!.served !== false',
      ),
    ],
    foundBy: test(HOLDING, 'holds a requisition for an unconfirmed reference'),
  },
  {
    // With this bug, the choice between deferring and answering reveals whether the data contains any events of a
    // reference, even of a single person.
    name: 'served-decided-by-the-rows',
    edits: [
      inProvider(
        'agent/responder.ts',
        'await requireComputable(verified, methodology); requireServed(verified.selection, isServed);',
        `await requireComputable(verified, methodology);
         const found = (await methodology.events?.inventory()) ?? [];
         requireServed(verified.selection, (name) => found.some(({ reference }) => reference === name));`,
      ),
    ],
    foundBy: test(HOLDING, 'with no row, one row and many rows'),
  },
  {
    name: 'confirmation-not-noticed',
    edits: [
      inProvider(
        'agent/retries.ts',
        'if (retry.held?.every(isServed)) retry.notBefore = 0;',
        'if (retry.held?.every(isServed)) continue;',
      ),
    ],
    foundBy: test('sdk/src/provider/agent/retries.test.ts', 'all of their references are confirmed'),
  },
  {
    name: 'held-question-not-shown',
    edits: [
      inProvider(
        'agent/attempts.ts',
        'ledger.held.set({ requisition: name, measurementConsumer: consumerOf(requisition), references });',
        'void [consumerOf(requisition), references];',
      ),
    ],
    foundBy: test(HOLDING, 'holds a requisition for an unconfirmed reference'),
  },
  {
    name: 'no-turns-by-consumer',
    edits: [
      inProvider(
        'agent/turns.ts',
        'a.held - b.held || a.lastTurn - b.lastTurn',
        'a.lastTurn * 0 - b.lastTurn * 0',
      ),
    ],
    foundBy: test('sdk/src/provider/agent/turns.test.ts'),
  },
  {
    // With this bug, uploads to a slow duchy can occupy all places for requisitions that the agent answers in parallel.
    // The agent then answers no other requisition.
    name: 'upload-holds-the-place-of-computing',
    edits: [inProvider('agent/responder.ts', 'release(); const places', 'const places')],
    foundBy: test('sdk/test/provider/agentTurns.test.ts', 'a duchy that accepts no upload'),
  },
  {
    name: 'uploads-to-a-duchy-unbounded',
    edits: [
      inProvider(
        'agent/attempts.ts',
        'if (!this.bounds.admit(key, most)) {',
        'if (!this.bounds.admit(key, 1e9 + most)) {',
      ),
    ],
    foundBy: test('sdk/test/provider/agentTurns.test.ts', 'a duchy that accepts no upload'),
  },
  {
    name: 'left-out-requisitions-forgotten',
    edits: [inProvider('agent/attempts.ts', 'this.hasRoom = true; pollIn(0);', 'this.hasRoom = true;')],
    foundBy: test('sdk/test/provider/agentTurns.test.ts', 'when there is room'),
  },
  {
    name: 'waiting-requisitions-unbounded',
    edits: [
      inProvider(
        'agent/retries.ts',
        'return count < WAITING_PER_CONSUMER || this.waiting.has(requisition.name!);',
        'return count < WAITING_PER_CONSUMER || true;',
      ),
    ],
    foundBy: test(
      'sdk/src/provider/agent/retries.test.ts',
      'hasRoomFor returns false for a consumer at its limit',
    ),
  },
  {
    name: 'retry-after-ignored',
    edits: [
      inProvider(
        'agent/retries.ts',
        'return 1000 * Math.min(retryAfterSeconds, 3600);',
        'return 0 * retryAfterSeconds;',
      ),
    ],
    foundBy: test('sdk/src/provider/agent/retries.test.ts', 'after a failure that asks for'),
  },
];
