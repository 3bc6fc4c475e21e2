/** Checks that a report's state follows from its measurements, and that deleted reports have no content. */
import { PENDING_MEASUREMENT_STATES } from '@measurement-exchange/contract';
import { literals } from '../db.ts';
import { reports } from '../reports.ts';
import { names, only } from '../table.ts';
import { checks, NAME, RESTORE, unionAll } from './check.ts';

/** Every report that is not deleted, with counts of its measurements. */
const COUNTED = `
  SELECT ${NAME.report} AS name, q.state, q.waiting_for, q.measurement_count, count(e.key) AS total, max(e.n) AS last,
         count(m.id) FILTER (WHERE m.state = 'SUCCEEDED') AS succeeded,
         count(m.id) FILTER (WHERE m.state IN (${literals(PENDING_MEASUREMENT_STATES)})) AS pending,
         count(*) FILTER (WHERE e.measurement = q.waiting_for) AS awaited
    FROM reports q LEFT JOIN report_measurements e ON e.consumer = q.consumer AND e.report = q.id
    LEFT JOIN measurements m ON m.id = e.measurement
   WHERE q.state <> 'DELETED' GROUP BY q.consumer, q.id`;

const DERIVED = `CASE WHEN total = 0 THEN 'PLANNED' WHEN pending > 0 THEN 'RUNNING'
  WHEN succeeded = total THEN 'COMPLETE' ELSE 'INCOMPLETE' END`;

/** Columns that must be null in a deleted report. */
const CONTENT = names(
  only(reports, 'title', 'definition', 'sealedDefinition', 'definitionHash', 'sealedAnswer', 'waitingFor'),
  'q',
);

export const reportChecks = checks({
  // Compare the state with the derived state only if the report waits for no measurement. While a report waits, its
  // state may be outdated until a job derives it again.
  'report-state': {
    meaning:
      'A report does not wait for a measurement, but its state is not the one that its measurements have led to; or it ' +
      'waits for a measurement that is not its own.',
    remedy: `Set waiting_for of the report to one of its measurements: its state is then derived again. ${RESTORE}`,
    names: `SELECT name FROM (${COUNTED}) AS counted
      WHERE waiting_for IS NULL AND state <> ${DERIVED} OR waiting_for IS NOT NULL AND awaited = 0
         OR state = 'RUNNING' AND waiting_for IS NULL`,
  },
  'report-measurements': {
    meaning: 'A report has another number of measurements than it counts, or their order has gaps.',
    names: `SELECT name FROM (${COUNTED}) AS counted WHERE total <> measurement_count OR coalesce(last, 0) <> total`,
  },
  'report-content': {
    meaning: 'A deleted report still has content or measurements, or a report has no definition, or two.',
    remedy: `Set the content of a deleted report to NULL: its consumer wanted it gone. ${RESTORE}`,
    names: unionAll(
      `SELECT ${NAME.report} AS name FROM reports q
        WHERE q.state = 'DELETED' AND (num_nonnulls(${CONTENT}) > 0 OR q.measurement_count > 0)`,
      `SELECT ${NAME.report} FROM reports q JOIN report_measurements e ON e.consumer = q.consumer AND e.report = q.id
        WHERE q.state = 'DELETED'`,
      `SELECT ${NAME.report} FROM reports q WHERE q.state <> 'DELETED'
          AND (num_nonnulls(q.definition, q.definition_ciphertext) <> 1 OR q.definition_hash IS NULL)`,
    ),
  },
});
