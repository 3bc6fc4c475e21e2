/** Test data: possible defects of reports. */
import { BRAND } from './data.ts';
import type { Illness } from './illness.ts';

const report = (id: string) => `${BRAND}/reports/${id}`;

export const REPORT_ILLNESSES: Illness[] = [
  [
    'reports whose state does not match their measurements',
    `UPDATE reports SET state = 'COMPLETE' WHERE id IN ('planned', 'incomplete');
     UPDATE reports SET state = 'INCOMPLETE' WHERE id = 'complete';
     UPDATE reports SET waiting_for = NULL WHERE id = 'running'`,
    'report-state',
    [report('complete'), report('incomplete'), report('planned'), report('running')],
  ],
  [
    'reports that wait for a measurement of another report',
    `UPDATE reports SET waiting_for = 'computing' WHERE id IN ('planned', 'complete')`,
    'report-state',
    [report('complete'), report('planned')],
  ],
  [
    'a report with a wrong measurement_count, and a report whose measurement numbers start at 2',
    `UPDATE reports SET measurement_count = 1 WHERE id = 'planned';
     UPDATE report_measurements SET n = n + 1 WHERE report = 'complete'`,
    'report-measurements',
    [report('complete'), report('planned')],
  ],
  [
    'a deleted report with content and measurements, and a report without a definition',
    `UPDATE reports SET title = 'left' WHERE id = 'deleted';
     INSERT INTO report_measurements VALUES ('${BRAND}', 'deleted', repeat('d', 64), 1, 'told');
     UPDATE reports SET definition_ciphertext = NULL, definition_type_url = NULL WHERE id = 'planned'`,
    'report-content',
    [report('deleted'), report('planned')],
  ],
  [
    'a measurement of a report that does not exist, and a measurement that never existed',
    `INSERT INTO report_measurements VALUES ('${BRAND}', 'none', repeat('d', 64), 1, 'told');
     UPDATE report_measurements SET measurement = 'none' WHERE report = 'incomplete' AND measurement = 'old'`,
    'orphan',
    [`measurement none of ${report('incomplete')}`, `measurement told of ${report('none')}`],
  ],
  [
    "a report that has another consumer's measurement",
    `UPDATE measurement_tombstones SET consumer = 'measurementConsumers/other' WHERE id = 'old'`,
    'orphan',
    [`measurement old of ${report('incomplete')}`],
  ],
  [
    'a report with an unknown state',
    `UPDATE reports SET state = 'LATER', waiting_for = 'told' WHERE id = 'complete'`,
    'unknown-word',
    [report('complete')],
  ],
];
