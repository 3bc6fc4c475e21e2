/**
 * Checks that the audit log names the author of every version of a resource. Measurements, requisitions, and
 * participants are exempt, because the transition log names their authors.
 */
import { checks, NAME, unionAll } from './check.ts';

/**
 * Every versioned resource. `first` is the first version that must have an audit entry. For parties and certificates it
 * is 2, because development mode creates version 1 without an audit entry.
 */
const VERSIONED = unionAll(
  `SELECT ${NAME.descriptor} AS name, d.version, 1 AS first FROM event_group_metadata_descriptors d`,
  `SELECT ${NAME.eventGroup}, e.version, 1 FROM event_groups e`,
  `SELECT ${NAME.population}, o.version, 1 FROM populations o`,
  `SELECT ${NAME.report}, q.version, 1 FROM reports q`,
  `SELECT ${NAME.certificate}, c.version, 2 FROM certificates c`,
  `SELECT p.name, p.version, 2 FROM parties p`,
  `SELECT 'doctor', d.requests, 1 FROM doctor_run d`,
);

/** Resources without versions. Each is created once and deleted at most once. */
const UNVERSIONED = unionAll(
  `SELECT ${NAME.principal} AS name FROM principals p`,
  `SELECT ${NAME.trustedRoot} FROM trusted_roots t`,
  `SELECT w.party || '/webhooks/' || w.id FROM webhooks w`,
  `SELECT ${NAME.apiKey} FROM api_keys k`,
);
const IS_UNVERSIONED = `a.name ~ '^(principals|trustedRoots)/|/(webhooks|apiKeys)/'`;

export const auditChecks = checks({
  'audit-missing': {
    meaning:
      'A version of a party, certificate, descriptor, event group, population or report has no audit entry, so its ' +
      'author is unknown.',
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
      'A principal, trusted root, webhook or API key is gone without an audit entry of its deletion, or exists despite such an entry.',
    names: `SELECT audited.name FROM (
        SELECT a.name, bool_or(a.operation LIKE 'delete%') AS deleted FROM audit_entries a
         WHERE ${IS_UNVERSIONED} GROUP BY a.name
      ) AS audited LEFT JOIN (${UNVERSIONED}) AS present USING (name)
       WHERE deleted = (present.name IS NOT NULL)`,
  },
});
