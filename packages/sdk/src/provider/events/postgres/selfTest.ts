/**
 * Checks that the server evaluates SQL as the agent's statements expect, and that the only privilege of the account is
 * to read one table.
 */
import { EventsUnavailable } from '../errors.ts';
import type { Session } from './session.ts';

/** Version 14, the first one in which `extract` returns exact numbers. */
const OLDEST_VERSION = 140_000;

/** SQL expressions that must be true. If an expression is not true, the check fails with the problem next to it. */
const BEHAVIOR: [condition: string, problem: string][] = [
  [
    `current_setting('server_version_num')::int >= ${OLDEST_VERSION}`,
    'PostgreSQL is older than version 14: upgrade it',
  ],
  [
    `current_setting('server_encoding') = 'UTF8'`,
    'the encoding of the database is not UTF8, so text cannot be compared by code points: move the table',
  ],
  [
    `(U&'\\FFFD' COLLATE "C") < (U&'\\+01F600' COLLATE "C") AND ('a' COLLATE "C") > ('B' COLLATE "C")
      AND length(U&'\\+01F600') = 1`,
    'text is not compared by code points: use another server',
  ],
  [
    `current_setting('TimeZone') = 'UTC' AND
      (TIMESTAMPTZ '2026-07-01 00:00:00+02' AT TIME ZONE 'UTC')::date = DATE '2026-06-30'`,
    'times are not read in UTC: use another server',
  ],
  [
    `'NaN'::float8 = 'NaN'::float8 AND 'NaN'::float8 > 'Infinity'::float8`,
    'NaN is not ordered: use another server',
  ],
  [
    `(9223372036854775807::int8)::text = '9223372036854775807' AND
      (SELECT sum(x) FROM (VALUES (9223372036854775807::int8), (1)) AS v(x)) = 9223372036854775808`,
    'sums of integers are not exact: use another server',
  ],
  [
    `current_setting('transaction_isolation') = 'repeatable read' AND current_setting('transaction_read_only') = 'on'`,
    'transactions do not keep one snapshot: do not use a pool that rewrites BEGIN',
  ],
];

/** SQL queries for excessive privileges. If a query returns a row, the check fails with the query's problem. */
const PRIVILEGES: [query: string, problem: (found: string) => string][] = [
  [
    `SELECT rolname FROM pg_roles WHERE rolname = current_user AND
      (rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication OR rolbypassrls)`,
    (role) => `${role} is an administrator: give the agent an account of its own, with SELECT on one table`,
  ],
  [
    `SELECT rolname FROM pg_roles WHERE rolname IN
      ('pg_read_all_data', 'pg_write_all_data', 'pg_read_server_files', 'pg_write_server_files', 'pg_execute_server_program')
      AND pg_has_role(oid, 'MEMBER')`,
    (role) => `the account is a member of ${role}: revoke that`,
  ],
  [
    `SELECT c.oid::regclass FROM pg_class AS c WHERE c.oid = $1::regclass AND
      has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE, REFERENCES, TRIGGER')`,
    (table) =>
      `the account can change ${table}: revoke all but SELECT, and let another account own the table`,
  ],
  [
    `SELECT c.oid::regclass FROM pg_class AS c WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f') AND c.oid <> $1::regclass
      AND NOT c.oid = ANY(SELECT relid FROM pg_partition_tree($1::regclass))
      AND NOT EXISTS (SELECT FROM pg_inherits AS i WHERE i.inhrelid = c.oid AND i.inhparent = $1::regclass)
      AND c.relnamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
      AND NOT EXISTS (SELECT FROM pg_depend AS d WHERE d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.deptype = 'e')
      AND has_schema_privilege(c.relnamespace, 'USAGE')
      AND (has_any_column_privilege(c.oid, 'SELECT, INSERT, UPDATE') OR has_table_privilege(c.oid, 'DELETE, TRUNCATE'))
      LIMIT 1`,
    (table) => `the account can also use ${table}: revoke that, so that the agent can read one table only`,
  ],
  [
    `SELECT nspname FROM pg_namespace WHERE has_schema_privilege(oid, 'CREATE') AND nspname !~ '^pg_' LIMIT 1`,
    (schema) => `the account can create tables in the schema ${schema}: revoke CREATE`,
  ],
];

export async function selfTest(session: Session, table: string): Promise<void> {
  const [results] = await session.rows(`SELECT ${BEHAVIOR.map(([condition]) => condition).join(', ')}`);
  for (const [i, [, problem]] of BEHAVIOR.entries()) {
    if (results![i] !== 't') throw new EventsUnavailable(`events.source: ${problem}.`);
  }
  for (const [query, problem] of PRIVILEGES) {
    const [found] = await session.rows(query, query.includes('$1') ? [table] : []);
    if (found) throw new EventsUnavailable(`events.source.user: ${problem(found[0]!)}.`);
  }
  const [readable] = await session.rows(`SELECT has_any_column_privilege($1::regclass, 'SELECT')`, [table]);
  if (readable![0] !== 't') {
    throw new EventsUnavailable(`events.source.user: the account may not read ${table}: grant it SELECT.`);
  }
}
