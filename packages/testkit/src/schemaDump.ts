/** Prints the schema of a database from its catalog, in an order that does not depend on the machine. */
type Query = (text: string, values?: unknown[]) => Promise<Record<string, unknown>[]>;

/**
 * Each query returns a column `name`, by which the rows are sorted, and a column `text`, which is printed. NOT NULL is
 * printed with each table's columns, because PostgreSQL before version 18 does not list it as a constraint.
 */
const TABLES = `
  SELECT c.relname AS name, format(E'CREATE TABLE %s (\\n%s\\n);', c.relname, concat_ws(E',\\n', columns.list, constraints.list)) AS text
    FROM pg_class c
    CROSS JOIN LATERAL (
      SELECT string_agg(format('  %s %s', a.attname, format_type(a.atttypid, a.atttypmod))
               || CASE WHEN l.collname = 'C' AND a.attcollation <> t.typcollation THEN ' COLLATE "C"' ELSE '' END
               || CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END
               || CASE WHEN a.attidentity <> '' THEN ' GENERATED ALWAYS AS IDENTITY'
                       WHEN a.attgenerated <> '' THEN format(' GENERATED ALWAYS AS (%s) STORED', pg_get_expr(d.adbin, d.adrelid))
                       WHEN d.oid IS NOT NULL THEN ' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid) ELSE '' END,
               E',\\n' ORDER BY a.attnum) AS list
        FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid
        LEFT JOIN pg_collation l ON l.oid = a.attcollation
        LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
       WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    ) columns
    CROSS JOIN LATERAL (
      SELECT string_agg(format('  CONSTRAINT %s %s', k.conname, pg_get_constraintdef(k.oid)), E',\\n'
               ORDER BY k.conname COLLATE "C") AS list
        FROM pg_constraint k WHERE k.conrelid = c.oid AND k.contype <> 'n' AND k.contype <> 't'
    ) constraints
   WHERE c.relkind = 'r' AND c.relnamespace = current_schema()::regnamespace`;

const INDEXES = `
  SELECT c.relname AS name, pg_get_indexdef(i.indexrelid) || ';' AS text
    FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
   WHERE c.relnamespace = current_schema()::regnamespace
     AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u'))`;

const TRIGGERS = `
  SELECT c.relname || ' ' || t.tgname AS name, pg_get_triggerdef(t.oid) || ';' AS text
    FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
   WHERE c.relnamespace = current_schema()::regnamespace AND NOT t.tgisinternal`;

const FUNCTIONS = `
  SELECT p.oid::regprocedure::text AS name, rtrim(pg_get_functiondef(p.oid), E'\\n') || ';' AS text
    FROM pg_proc p WHERE p.pronamespace = current_schema()::regnamespace`;

export async function printSchema(query: Query): Promise<string> {
  const parts: string[] = [
    '-- The schema after all migrations. A test prints it from a migrated database and compares:',
    '-- npx vitest run <schema.test.ts of this package> --update writes it anew.',
  ];
  for (const [part, separator] of [
    [TABLES, '\n\n'],
    [INDEXES, '\n'],
    [TRIGGERS, '\n'],
    [FUNCTIONS, '\n\n'],
  ] as const) {
    const rows = await query(`SELECT text FROM (${part}) AS part ORDER BY name COLLATE "C"`);
    if (rows.length > 0) parts.push('', rows.map(({ text }) => text).join(separator));
  }
  return `${parts.join('\n').replaceAll('public.', '')}\n`;
}
