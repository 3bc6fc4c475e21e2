/**
 * Checks that the change log has the versions of each resource in order, without gaps, up to the current version. The
 * oldest versions may be missing, because retention removes them. A computation's version is a sum of several versions,
 * so one change can raise it by more than 1.
 */
import { ALL_AHEAD } from '../transactionIds.ts';
import { checks, NAME, RESTORE, unionAll } from './check.ts';

/** Each change with the previous version of the same resource, in the order in which parties read changes. */
const STEPS = `
  SELECT name, kind, version, lag(version) OVER w AS previous
    FROM changes WINDOW w AS (PARTITION BY party, name ORDER BY xid, seq)`;

/** The current version of every resource. A resource that parties can read under several names has one row per name. */
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
  `SELECT ${NAME.report}, q.version FROM reports q`,
  `SELECT ${NAME.certificate}, c.version FROM certificates c`,
  `SELECT p.name, p.version FROM parties p`,
);

const LIST_AGAIN = `Parties that follow the log may have missed a version: tell them to list their resources. ${RESTORE}`;

export const changeChecks = checks({
  'changes-ahead': {
    meaning:
      'A log has transaction IDs that this server has not reached, as after restoring a dump of another server: new ' +
      'changes would come before old ones, and parties that follow the log would not see them.',
    remedy: 'Run mex migrate: the log of changes starts anew, and parties that follow it are told to list.',
    names: ALL_AHEAD,
  },
  'changes-order': {
    meaning:
      'The log of changes has the versions of a resource in a different order than they were written in.',
    remedy: LIST_AGAIN,
    names: `SELECT name FROM (${STEPS}) AS step WHERE version <= previous`,
  },
  // Retention removes only the oldest changes. If the log still has changes of a resource, the last of them must
  // therefore have the resource's current version.
  'changes-gap': {
    meaning: 'The log of changes lacks a version of a resource, but has an earlier one.',
    remedy: LIST_AGAIN,
    names: unionAll(
      `SELECT name FROM (${STEPS}) AS step WHERE version > previous + 1 AND kind <> 'COMPUTATION'`,
      `SELECT name FROM (SELECT name, max(version) AS version FROM changes GROUP BY name) AS newest
        JOIN (${CURRENT}) AS current USING (name) WHERE newest.version <> current.version`,
    ),
  },
});
