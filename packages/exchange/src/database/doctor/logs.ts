/** Checks that the transition log leads to the current state of every measurement, requisition, and participant. */
import { EDGES } from '../../domain/aggregate.ts';
import { checks, NAME, RESTORE, unionAll } from './check.ts';

const LOGGED = unionAll(
  `SELECT m.id AS measurement, '' AS requisition, ${NAME.measurement} AS name, m.state, m.version FROM measurements m`,
  `SELECT r.measurement, r.id, ${NAME.requisition}, r.state, r.version FROM requisitions r`,
  `SELECT c.id, c.duchy, ${NAME.computation}, c.participant_state, c.version FROM computations c`,
);

const STEPS = `
  SELECT *, lag(to_state) OVER w AS previous_state, lag(time) OVER w AS previous_time, lag(seq) OVER w AS previous_seq
    FROM transitions WINDOW w AS (PARTITION BY measurement, requisition ORDER BY version)`;

/**
 * Returns a query for the names of resources whose transition log has a step that meets `condition`. Skips transitions
 * without a resource, which the check `orphan` finds.
 */
function stepsWhere(condition: string): string {
  return `SELECT name FROM (${STEPS}) AS step JOIN (${LOGGED}) AS logged USING (measurement, requisition)
           WHERE ${condition}`;
}

const TRUST_THE_LOG = `The transition log is append-only: trust it unless a backup contradicts it. ${RESTORE}`;

export const logChecks = checks({
  'log-state': {
    meaning:
      'A measurement, requisition or participant is not in the state that its transition log leads to.',
    remedy: TRUST_THE_LOG,
    // Skips resources whose latest transition is missing. The check `log-version` finds them.
    names: `SELECT name FROM transitions t JOIN (${LOGGED}) AS logged USING (measurement, requisition, version)
      WHERE t.to_state <> logged.state`,
  },
  'log-version': {
    meaning:
      'The transition log of a measurement, requisition or participant does not count 1, 2, … up to its version.',
    remedy: TRUST_THE_LOG,
    names: `SELECT name FROM (${LOGGED}) AS logged LEFT JOIN (
        SELECT measurement, requisition, count(*) AS rows, count(DISTINCT version) AS versions,
               min(version) AS first, max(version) AS last
          FROM transitions GROUP BY measurement, requisition
      ) AS log USING (measurement, requisition)
       WHERE (logged.version, logged.version, 1, logged.version) IS DISTINCT FROM (rows, versions, first, last)`,
  },
  // `EDGES` lists all allowed transitions. No allowed transition leaves a terminal state, so this check also finds
  // transitions that leave one.
  'log-edge': {
    meaning: 'The transition log has a step that no measurement, requisition or participant can take.',
    names:
      stepsWhere(`(CASE WHEN requisition = '' THEN 'measurement' WHEN requisition LIKE 'duchies/%' THEN 'participant'
                        ELSE 'requisition' END, cause,
                   coalesce(from_state, ''), to_state)
        NOT IN (SELECT resource, cause, coalesce(from_state, ''), to_state
                  FROM unnest($1::text[], $2::text[], $3::text[], $4::text[])
                    AS edge(resource, cause, from_state, to_state))`),
    values: [0, 1, 2, 3].map((column) => EDGES.map((edge) => edge[column])),
  },
  'log-chain': {
    meaning: 'A step in the transition log does not begin where the one before it ended.',
    names: stepsWhere('from_state IS DISTINCT FROM previous_state'),
  },
  'log-order': {
    meaning:
      'Steps were logged in a different order than they happened in, which misleads readers that sort by seq.',
    names: stepsWhere('seq <= previous_seq'),
  },
  'log-time': {
    meaning: 'A step in the transition log is not dated after the step before it.',
    names: stepsWhere('time <= previous_time'),
  },
});
