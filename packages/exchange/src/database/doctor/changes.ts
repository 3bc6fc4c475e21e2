/** The log of changes: does it show every version of a resource once and in order to those who follow it? */
import { ALL_AHEAD } from '../transactionIds.ts';
import {
  CERTIFICATE_NAME,
  COMPUTATION_NAME,
  checks,
  DESCRIPTOR_NAME,
  EVENT_GROUP_NAME,
  MEASUREMENT_NAME,
  REQUISITION_NAME,
  RESTORE,
} from './check.ts';

/** Each row beside the one before it of the same resource, in the order in which they are read. */
const STEPS = `
  SELECT name, kind, version, lag(version) OVER w AS previous
    FROM changes WINDOW w AS (PARTITION BY party, name ORDER BY xid, seq)`;

/** Everything that has changes, under the name of each party that sees it. */
const CURRENT = `
  SELECT ${MEASUREMENT_NAME} AS name, m.version FROM measurements m
   UNION ALL
  SELECT ${REQUISITION_NAME}, r.version FROM requisitions r
   UNION ALL
  SELECT ${MEASUREMENT_NAME} || '/requisitions/' || r.id, r.version
    FROM requisitions r JOIN measurements m ON m.id = r.measurement
   UNION ALL
  SELECT ${COMPUTATION_NAME}, m.version + r.versions + sum(c.version) OVER (PARTITION BY c.id)
    FROM computations c JOIN measurements m ON m.id = c.id
    JOIN (SELECT measurement, sum(version) AS versions FROM requisitions GROUP BY measurement) r ON r.measurement = c.id
   UNION ALL
  SELECT ${EVENT_GROUP_NAME}, e.version FROM event_groups e
   UNION ALL
  SELECT e.consumer || '/eventGroups/' || e.id, e.version FROM event_groups e
   UNION ALL
  SELECT ${DESCRIPTOR_NAME}, d.version FROM event_group_metadata_descriptors d
   UNION ALL
  SELECT ${CERTIFICATE_NAME}, c.version FROM certificates c
   UNION ALL
  SELECT p.name, p.version FROM parties p`;

const LIST_AGAIN = `Whoever follows it may have missed a version: tell them to list their resources. ${RESTORE}`;

export const changeChecks = checks({
  'changes-ahead': {
    meaning:
      'A log has transaction IDs that this server has not reached, as after restoring a dump of another server: new ' +
      'changes would come before old ones, and nobody who follows would see them.',
    remedy: 'Run mex migrate: the log of changes begins anew, and everybody who follows it is told to list.',
    names: ALL_AHEAD,
  },
  'changes-order': {
    meaning: 'The log of changes shows the versions of a resource in another order than they were made in.',
    remedy: LIST_AGAIN,
    names: `SELECT name FROM (${STEPS}) AS step WHERE version <= previous`,
  },
  // Retention removes the oldest changes: what is left of a resource ends with its version.
  'changes-gap': {
    meaning: 'The log of changes lacks a version of a resource that is later than others it has.',
    remedy: LIST_AGAIN,
    names: `SELECT name FROM (${STEPS}) AS step WHERE version > previous + 1 AND kind <> 'COMPUTATION'
      UNION ALL
     SELECT name FROM (SELECT name, max(version) AS version FROM changes GROUP BY name) AS newest
       JOIN (${CURRENT}) AS current USING (name) WHERE newest.version <> current.version`,
  },
});
