/**
 * The logs are sorted by transaction IDs. A database that was restored from a dump has the IDs of another server. If those
 * are ahead of this server's IDs, new changes come before old ones, and parties that follow the log do not see them.
 */
import type pg from 'pg';

/** The first transaction ID that this server has not assigned yet. */
const NEXT = 'pg_snapshot_xmax(pg_current_snapshot())';

/** Selects the name of the table for each row with an ID that is ahead. It reads whole tables. */
export const ALL_AHEAD = ['changes', 'changes_removed', 'transitions', 'audit_entries']
  .map((relation) => `SELECT '${relation}' AS name FROM ${relation} WHERE xid >= ${NEXT}`)
  .join(' UNION ALL ');

/** Uses indexes only. It skips transitions, because every transaction that appends transitions also appends changes. */
const SOME_AHEAD = `
  SELECT EXISTS (SELECT FROM parties p CROSS JOIN LATERAL (
             SELECT FROM changes c WHERE c.party = p.name AND c.xid >= ${NEXT} ORDER BY c.xid DESC LIMIT 1) AS newest)
      OR EXISTS (SELECT FROM changes_removed WHERE xid >= ${NEXT})
      OR EXISTS (SELECT FROM audit_entries WHERE xid >= ${NEXT}) AS yes`;

export async function isAhead(client: pg.ClientBase): Promise<boolean> {
  return (await client.query(SOME_AHEAD)).rows[0].yes;
}

/**
 * Starts the log of changes anew: every token expires, and webhooks deliver only changes from now on. The other logs keep
 * their rows and their order. No row has sequence number 0, so no token refers to the new start.
 */
const BEGIN_ANEW = `
  ALTER TABLE changes DISABLE TRIGGER append_only;
  ALTER TABLE transitions DISABLE TRIGGER append_only;
  ALTER TABLE audit_entries DISABLE TRIGGER append_only;
  TRUNCATE changes;
  INSERT INTO changes_removed SELECT name, pg_snapshot_xmin(pg_current_snapshot()), 0 FROM parties
    ON CONFLICT (party) DO UPDATE SET xid = excluded.xid, seq = excluded.seq;
  UPDATE webhooks SET cursor_xid = '0', cursor_seq = 0;
  UPDATE webhook_deliveries SET xid = NULL, seq = NULL;
  UPDATE transitions SET xid = pg_current_xact_id() WHERE xid > pg_current_xact_id();
  UPDATE audit_entries SET xid = pg_current_xact_id() WHERE xid > pg_current_xact_id();
  ALTER TABLE changes ENABLE TRIGGER append_only;
  ALTER TABLE transitions ENABLE TRIGGER append_only;
  ALTER TABLE audit_entries ENABLE TRIGGER append_only;`;

/** Requires the owner of the schema. Returns whether the database was restored from a dump of a server that was ahead. */
export async function takeOver(client: pg.ClientBase): Promise<boolean> {
  const ahead = await isAhead(client);
  if (ahead) await client.query(`BEGIN; ${BEGIN_ANEW} COMMIT`);
  return ahead;
}
