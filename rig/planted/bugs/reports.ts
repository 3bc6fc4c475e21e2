/** Planted bugs in the exchange's reports: their states, their log, and the entries appended to them. */
import type { PlantedBug } from '../plant.ts';
import { inConsumer, inExchange, test } from './edits.ts';

const stored = (name: string) => test('exchange/test/reports/reports.test.ts', name);
const announced = (name: string) => test('exchange/test/reports/changes.test.ts', name);
const entries = (name: string) => test('exchange/src/domain/reportEntries.test.ts', name);
const secrecy = test(
  'sdk/test/consumer/reportSecrecy.test.ts',
  'no word, figure, key or hash of a report is in the database',
);
const record = (name: string) => test('exchange/src/domain/report.test.ts', name);

export const REPORT_BUGS: PlantedBug[] = [
  {
    name: 'report-with-a-failed-measurement-is-complete',
    edits: [
      inExchange('domain/reportEntries.ts', "entries.every(({ state }) => state === 'SUCCEEDED')", 'true'),
    ],
    foundBy: entries('INCOMPLETE'),
  },
  {
    name: 'measurement-of-a-report-is-replaced',
    edits: [inExchange('domain/reportEntries.ts', 'if (present !== measurement) {', 'if (false) {')],
    foundBy: entries('cannot replace one that the report has'),
  },
  {
    name: 'report-has-measurements-of-another-consumer',
    edits: [
      inExchange('domain/reportEntries.ts', 'if (partyOf(measurement) !== consumer) {', 'if (false) {'),
    ],
    foundBy: stored('must exist, belong to the consumer, and have distinct keys'),
  },
  {
    name: 'end-of-a-measurement-makes-an-update-stale',
    edits: [
      inExchange('domain/report.ts', 'id, revision }: ReportRecord', 'id, version: revision }: ReportRecord'),
    ],
    foundBy: record('a new state is a new version with the same etag'),
  },
  {
    name: 'report-is-not-settled-when-its-measurements-end',
    edits: [
      inExchange(
        'jobs/settleReports.ts',
        'for (const { consumer, id } of found) await',
        'for (const { consumer, id } of []) await',
      ),
    ],
    foundBy: announced('when it is created, updated, completed and deleted'),
  },
  {
    name: 'report-does-not-hear-of-a-removed-measurement',
    edits: [
      inExchange(
        'domain/reportEntries.ts',
        "state === 'SUCCEEDED')",
        "state === 'SUCCEEDED' || state === undefined)",
      ),
    ],
    foundBy: announced('when retention removes its measurements'),
  },
  {
    name: 'deleted-report-keeps-its-measurements',
    edits: [inExchange('database/reports.ts', 'tx.last(FORGET, [report.consumer, report.id]);', '')],
    foundBy: stored('is created once for a requestId, and again once it is deleted'),
  },
  {
    name: 'list-of-reports-has-their-answers',
    edits: [inExchange('operations/reports/list.ts', ', sealedAnswer: undefined }', ' }')],
    foundBy: stored('is stored and returned as it was given'),
  },
  {
    name: 'exchange-sees-the-title-of-a-report',
    edits: [
      inConsumer(
        'consumer/reports/stored.ts',
        'const body = { definitionHash, sealedDefinition };',
        "const body = { definitionHash, sealedDefinition, title: definition.title ?? '' };",
      ),
    ],
    foundBy: secrecy,
  },
  {
    name: 'exchange-sees-the-keys-of-needs',
    edits: [
      inConsumer(
        'consumer/reports/keys.ts',
        "return hex(await keys.of('need', key, String(attempt)));",
        'return attempt === 0 ? key : hex(await keys.of(key, String(attempt)));',
      ),
    ],
    foundBy: secrecy,
  },
];
