/** Planted bugs in the state machine of a measurement, and in the operations on it. */
import type { PlantedBug } from '../plant.ts';
import { CODE, inExchange, test } from './edits.ts';

const AGGREGATE = 'domain/aggregate.ts';
const MEASUREMENT = 'domain/measurement.ts';
const FULFILL = 'operations/requisitions/fulfillDirect.ts';

export const MEASUREMENT_BUGS: PlantedBug[] = [
  {
    name: 'etag-from-time',
    edits: [
      inExchange(
        MEASUREMENT,
        "etagOf({ id, version }: Pick<RequisitionOutline, 'id' | 'version'>): string {",
        'etagOf({ id, updateTime }: RequisitionOutline): string { const version = updateTime.slice(0, 19);',
      ),
    ],
    foundBy: 'H1',
  },
  {
    name: 'etag-outside-transaction',
    edits: [
      inExchange(MEASUREMENT, 'requireEtag(requisition, etag);', ''),
      ...[FULFILL, 'operations/requisitions/refuse.ts'].map((file) =>
        inExchange(
          file,
          'return mutate(',
          `await (await ${CODE}).checkEtagBefore(arguments[0].db, arguments[2]);\n  return mutate(`,
        ),
      ),
    ],
    foundBy: 'H2',
  },
  {
    name: 'withdraw-overwrites-fulfilled',
    edits: [
      inExchange(
        AGGREGATE,
        "['requisition', 'withdrawn', 'UNFULFILLED', 'WITHDRAWN'],",
        "['requisition', 'withdrawn', 'UNFULFILLED', 'WITHDRAWN'], ['requisition', 'withdrawn', 'FULFILLED', 'WITHDRAWN'],",
      ),
      inExchange(
        AGGREGATE,
        "if (r.state === 'UNFULFILLED') this.stepRequisition(r, 'withdrawn');",
        "if (r.state !== 'REFUSED') this.stepRequisition(r, 'withdrawn', { fulfillment: undefined });",
      ),
    ],
    relax: {
      statements: ['DROP TRIGGER terminal_state ON requisitions'],
      ignoredChecks: ['trigger-off'],
    },
    foundBy: 'H1',
  },
  {
    name: 'terminal-state-changes',
    edits: [
      inExchange(MEASUREMENT, 'if (isTerminal(measurement.state)) throw measurementClosed(measurement);', ''),
      inExchange(
        AGGREGATE,
        "['measurement', 'cancelled', 'COMPUTING', 'CANCELLED'],",
        "['measurement', 'cancelled', 'COMPUTING', 'CANCELLED'], ['measurement', 'cancelled', 'FAILED', 'CANCELLED'],",
      ),
    ],
    foundBy: test('exchange/src/domain/measurement.test.ts'),
  },
  {
    name: 'open-requisitions-not-withdrawn',
    edits: [inExchange(AGGREGATE, 'withdrawOpen(): void {', 'withdrawOpen(): void { return;')],
    foundBy: test('exchange/src/domain/measurement.test.ts'),
  },
  {
    // With this bug, a change gets an earlier time than the change before it if the clock was set back. A poller that
    // continues from the last update time then misses the change.
    name: 'time-steps-back',
    edits: [inExchange('domain/time.ts', 'if (now > previous) return now;', 'return now;')],
    foundBy: test('exchange/src/domain/time.test.ts'),
  },
  {
    name: 'expired-certificate-accepted',
    edits: [inExchange('domain/certificate.ts', "if (now > certificate.notAfter) return 'has expired';", '')],
    foundBy: test('exchange/src/domain/certificate.test.ts'),
  },
  {
    name: 'nonce-hash-compared-in-part',
    edits: [
      {
        file: 'consent/src/messages/nonce.ts',
        find: 'equalBytes(own, hash)',
        replace: 'equalBytes(own.subarray(0, 8), hash.subarray(0, 8))',
      },
    ],
    foundBy: test('consent/src/messages/nonce.test.ts'),
  },
  {
    name: 'nonce-through-number',
    edits: [inExchange(FULFILL, 'nonce: body.nonce,', 'nonce: BigInt(Number(body.nonce)),')],
    foundBy: 'H1',
  },
  {
    name: 'foreign-certificate',
    edits: [
      inExchange(FULFILL, 'named.dataProvider !== params.dataProvider', 'false'),
      inExchange(
        FULFILL,
        '{ party: provider, id: named.certificate }',
        "{ party: partyName('dataProvider', named.dataProvider), id: named.certificate }",
      ),
    ],
    relax: {
      statements: ['ALTER TABLE requisitions DROP CONSTRAINT requisitions_provider_result_certificate_fkey'],
      ignoredChecks: [],
    },
    foundBy: 'H1',
  },
  {
    name: 'second-requisition-on-retry',
    edits: [
      inExchange(
        'operations/measurements/load.ts',
        'return { ...part, existing: await readMeasurement(',
        `await (await ${CODE}).addSecondRequisition(tx, found.id, 'x' + found.id);
      return { ...part, existing: await readMeasurement(`,
      ),
      inExchange(
        'operations/measurements/create.ts',
        'save: created.length === 0 ? undefined : save,',
        'save,',
      ),
    ],
    relax: {
      statements: ['ALTER TABLE requisitions DROP CONSTRAINT requisitions_measurement_provider_key'],
      ignoredChecks: ['index-damaged'],
    },
    foundBy: 'H1',
  },
  {
    name: 'request-content-not-compared',
    edits: [inExchange('operations/idempotency.ts', 'if (equalBytes(stored, given)) return;', 'return;')],
    foundBy: 'H1',
  },
  {
    name: 'validate-only-saves',
    edits: [
      inExchange(
        'operations/mutate.ts',
        'if (decision.savesToValidate) await save?.(); tx.rollback();',
        'await save?.();',
      ),
    ],
    foundBy: test('exchange/test/http/validateOnly.test.ts', 'cancels nothing'),
  },
];
