/**
 * Checks that the audit log names the author of every version of a resource. Measurements, requisitions, and participants
 * are exempt, because the transition log names the authors of their versions.
 */
import { checks, NAME, unionAll } from './check.ts';

/**
 * Selects every versioned resource, and the first of its versions that must have an audit entry. Version 1 of a party or a
 * certificate needs none, because development mode creates demo parties and certificates without an audit entry.
 */
const VERSIONED = unionAll(
  `SELECT ${NAME.descriptor} AS name, d.version, 1 AS first FROM event_group_metadata_descriptors d`,
  `SELECT ${NAME.eventGroup}, e.version, 1 FROM event_groups e`,
  `SELECT ${NAME.population}, o.version, 1 FROM populations o`,
  `SELECT ${NAME.certificate}, c.version, 2 FROM certificates c`,
  `SELECT p.name, p.version, 2 FROM parties p`,
  `SELECT 'doctor', d.requests, 1 FROM doctor_run d`,
);

/** Selects the resources without versions. Each is created once and deleted at most once. */
const UNVERSIONED = unionAll(
  `SELECT ${NAME.principal} AS name FROM principals p`,
  `SELECT ${NAME.trustedRoot} FROM trusted_roots t`,
  `SELECT w.party || '/webhooks/' || w.id FROM webhooks w`,
);
const IS_UNVERSIONED = `a.name ~ '^(principals|trustedRoots)/|/webhooks/'`;

export const auditChecks = checks({
  'audit-missing': {
    meaning:
      'A version of a party, certificate, descriptor, event group or population has no audit entry, so its author is ' +
      'unknown.',
    names: `SELECT v.name FROM (${VERSIONED}) AS v
       LEFT JOIN audit_entries a ON a.name = v.name AND a.version BETWEEN v.first AND v.version
      GROUP BY v.name, v.version, v.first HAVING count(DISTINCT a.version) <= v.version - v.first`,
  },
  'audit-unmatched': {
    meaning: 'An audit entry is about a version that does not exist, or that has another audit entry.',
    names: `SELECT a.name FROM (
        SELECT *, row_number() OVER (PARTITION BY name, version ORDER BY seq) AS nth FROM audit_entries a
         WHERE NOT ${IS_UNVERSIONED}
      ) AS a LEFT JOIN (${VERSIONED}) AS v USING (name)
       WHERE v.name IS NULL OR a.version NOT BETWEEN 1 AND v.version OR a.nth > 1`,
  },
  'audit-deletion': {
    meaning:
      'A principal, trusted root or webhook is gone without an audit entry of its deletion, or exists despite such an entry.',
    names: `SELECT audited.name FROM (
        SELECT a.name, bool_or(a.operation LIKE 'delete%') AS deleted FROM audit_entries a
         WHERE ${IS_UNVERSIONED} GROUP BY a.name
      ) AS audited LEFT JOIN (${UNVERSIONED}) AS present USING (name)
       WHERE deleted = (present.name IS NOT NULL)`,
  },
});
