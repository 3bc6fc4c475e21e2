/** Checks PostgreSQL's settings, and the indexes, triggers, and constraints that protect the rows. */
import { readFileSync } from 'node:fs';
import { checks, unionAll } from './check.ts';

const SCHEMA = readFileSync(new URL('../schema.sql', import.meta.url), 'utf8');

export const UNIQUE_INDEXES = Array.from(
  SCHEMA.matchAll(/CONSTRAINT (\w+) (?:PRIMARY KEY|UNIQUE)|CREATE UNIQUE INDEX (\w+)/g),
  ([, constraint, index]) => (constraint ?? index)!,
).sort();

export const TRIGGERS = Array.from(
  SCHEMA.matchAll(/^CREATE (?:CONSTRAINT )?TRIGGER (\w+) .*? ON (\w+) /gm),
  ([, trigger, relation]) => [relation!, trigger!] as const,
);

const OURS = 'relnamespace = current_schema()::regnamespace';

export const serverChecks = checks({
  'index-damaged': {
    meaning:
      'An index is missing, or PostgreSQL does not use it: duplicates may be stored, and reads are slow.',
    remedy: 'REINDEX INDEX it; create a missing index again as in the migrations (database/migrations).',
    names: unionAll(
      `SELECT wanted AS name FROM unnest($1::text[]) AS wanted LEFT JOIN pg_index i ON i.indexrelid = to_regclass(wanted)
        WHERE i.indisunique IS NOT TRUE`,
      `SELECT c.relname FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.${OURS} AND NOT (i.indisvalid AND i.indisready AND i.indislive)`,
    ),
    values: [UNIQUE_INDEXES],
  },
  'trigger-off': {
    meaning: 'A trigger or foreign key is missing or disabled: nothing stops rows that break its rule.',
    remedy:
      'ALTER TABLE … ENABLE TRIGGER ALL; create a missing one again as in the migrations (database/migrations).',
    names: unionAll(
      `SELECT wanted.relation || ' ' || wanted.trigger AS name
         FROM unnest($1::text[], $2::text[]) AS wanted(relation, trigger)
         LEFT JOIN pg_trigger t ON t.tgrelid = to_regclass(wanted.relation) AND t.tgname = wanted.trigger
        WHERE t.oid IS NULL`,
      `-- PostgreSQL enforces a foreign key by internal triggers, whose names say less than the name of the key.
        SELECT c.relname || ' ' || coalesce(k.conname, t.tgname)
          FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid LEFT JOIN pg_constraint k ON k.oid = t.tgconstraint
         WHERE c.${OURS} AND t.tgenabled NOT IN ('O', 'A')`,
    ),
    values: [TRIGGERS.map(([relation]) => relation), TRIGGERS.map(([, trigger]) => trigger)],
  },
  'constraint-not-valid': {
    meaning: 'A constraint was added without validating the existing rows.',
    remedy: 'ALTER TABLE … VALIDATE CONSTRAINT …',
    names: `SELECT c.relname || ' ' || k.conname AS name FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid
      WHERE c.${OURS} AND NOT k.convalidated`,
  },
  'settings-unsafe': {
    meaning: 'The server is set so that a crash loses acknowledged writes, or so that text is not UTF-8.',
    remedy:
      'Set fsync, full_page_writes and synchronous_commit to on (ALTER SYSTEM SET …, ALTER ROLE … RESET …, ' +
      'SELECT pg_reload_conf()); move the data to a database with ENCODING UTF8.',
    names: unionAll(
      `SELECT name || ' = ' || setting AS name FROM pg_settings
        WHERE name IN ('fsync', 'full_page_writes') AND setting <> 'on'
           OR name = 'synchronous_commit' AND setting NOT IN ('on', 'remote_write', 'remote_apply')
           OR name = 'server_encoding' AND setting <> 'UTF8'`,
      `-- The exchange may serve with another role than the doctor connects with.
        SELECT 'role ' || r.rolname || ': ' || setting
          FROM pg_db_role_setting s JOIN pg_roles r ON r.oid = s.setrole CROSS JOIN unnest(s.setconfig) AS setting
         WHERE s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
           AND has_table_privilege(r.oid, 'measurements', 'INSERT')
           AND setting ~ '^synchronous_commit=' AND setting !~* '=(on|true|yes|1|remote_write|remote_apply)$'`,
    ),
  },
  'checksums-off': {
    severity: 'warning',
    meaning: 'Data checksums are off: PostgreSQL does not detect data that a failing disk damaged.',
    remedy: 'Stop the server and run pg_checksums --enable on its data directory.',
    names: `SELECT name || ' = ' || setting AS name FROM pg_settings WHERE name = 'data_checksums' AND setting <> 'on'`,
  },
});
