/** Test data: possible defects of the log of changes. */
import { BRAND, RADIO, TV } from './data.ts';
import { descriptor, type Illness, measurement } from './illness.ts';

/** A transaction ID that no server has reached. */
const AHEAD = '9000000000000000000';

export const CHANGE_ILLNESSES: Illness[] = [
  [
    'logs with transaction IDs that the server has not reached',
    `UPDATE changes SET xid = '${AHEAD}' WHERE name = '${measurement('awaiting')}';
     UPDATE transitions SET xid = '${AHEAD}' WHERE measurement = 'awaiting';
     UPDATE audit_entries SET xid = '${AHEAD}' WHERE name = '${TV}';
     INSERT INTO changes_removed VALUES ('${TV}', '${AHEAD}', 1)`,
    'changes-ahead',
    ['audit_entries', 'changes', 'changes_removed', 'transitions'],
  ],
  [
    'changes that are not in the order of their versions, and a duplicate change',
    `UPDATE changes SET version = 3 - version WHERE name = '${TV}';
     INSERT INTO changes (party, name, kind, state, version, time)
     SELECT party, name, kind, state, version, time FROM changes WHERE name = '${measurement('awaiting')}'`,
    'changes-order',
    [TV, measurement('awaiting')],
  ],
  [
    'resources whose change log lacks a middle version or the latest version',
    `DELETE FROM changes WHERE version = 2 AND name IN
       ('${RADIO}/certificates/radio-cert', '${descriptor('films')}', '${BRAND}/eventGroups/gone');
     DELETE FROM changes USING (SELECT max(version) AS last FROM changes WHERE name = 'duchies/first/computations/shares-summed')
      WHERE version = last AND name = 'duchies/first/computations/shares-summed'`,
    'changes-gap',
    [
      `${RADIO}/certificates/radio-cert`,
      descriptor('films'),
      'duchies/first/computations/shares-summed',
      `${BRAND}/eventGroups/gone`,
    ],
  ],
];
