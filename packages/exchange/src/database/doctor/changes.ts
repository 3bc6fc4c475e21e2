/** The log of changes: does it show every version of a resource once and in order to those who follow it? */
import { ALL_AHEAD } from '../transactionIds.ts';
import { checks, NAME, RESTORE, unionAll } from './check.ts';

/** Each row beside the one before it of the same resource, in the order in which they are read. */
const STEPS = `
  SELECT name, kind, version, lag(version) OVER w AS previous
    FROM changes WINDOW w AS (PARTITION BY party, name ORDER BY xid, seq)`;

/** Everything that has changes, under the name of each party that sees it. */
const CURRENT = unionAll(
  `SELECT ${NAME.measurement} AS name, m.version FROM measurements m`,
  `SELECT ${NAME.requisition}, r.version FROM requisitions r`,
  `SELECT ${NAME.measurement} || '/requisitions/' || r.id, r.version
    FROM requisitions r JOIN measurements m ON m.id = r.measurement`,
  `SELECT ${NAME.computation}, m.version + r.versions + sum(c.version) OVER (PARTITION BY c.id)
    FROM computations c JOIN measurements m ON m.id = c.id
    JOIN (SELECT measurement, sum(version) AS versions FROM requisitions GROUP BY measurement) r ON r.measurement = c.id`,
  `SELECT ${NAME.eventGroup}, e.version FROM event_groups e`,
  `SELECT e.consumer || '/eventGroups/' || e.id, e.version FROM event_groups e`,
  `SELECT ${NAME.descriptor}, d.version FROM event_group_metadata_descriptors d`,
  `SELECT ${NAME.certificate}, c.version FROM certificates c`,
  `SELECT p.name, p.version FROM parties p`,
);

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
    names: unionAll(
      `SELECT name FROM (${STEPS}) AS step WHERE version > previous + 1 AND kind <> 'COMPUTATION'`,
      `SELECT name FROM (SELECT name, max(version) AS version FROM changes GROUP BY name) AS newest
        JOIN (${CURRENT}) AS current USING (name) WHERE newest.version <> current.version`,
    ),
  },
});
