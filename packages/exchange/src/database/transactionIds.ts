/**
 * Repairs the logs after a restore. Logs are sorted by transaction ID, and a dump contains another server's IDs. If
 * those IDs are higher than this server's IDs, new changes sort before old ones, and readers of the log never see the
 * new changes.
 */
import type pg from 'pg';

const NEXT = 'pg_snapshot_xmax(pg_current_snapshot())';

/** Selects the table name of each log row whose transaction ID this server has not assigned yet. Reads whole tables. */
export const ALL_AHEAD = ['changes', 'changes_removed', 'transitions', 'audit_entries']
  .map((relation) => `SELECT '${relation}' AS name FROM ${relation} WHERE xid >= ${NEXT}`)
  .join(' UNION ALL ');

/**
 * Tells whether any log row has a transaction ID that this server has not assigned yet. Reads only indexes. Skips
 * `transitions`, because every transaction that writes transitions also writes changes.
 */
const SOME_AHEAD = `
  SELECT EXISTS (SELECT FROM parties p CROSS JOIN LATERAL (
             SELECT FROM changes c WHERE c.party = p.name AND c.xid >= ${NEXT} ORDER BY c.xid DESC LIMIT 1) AS newest)
      OR EXISTS (SELECT FROM changes_removed WHERE xid >= ${NEXT})
      OR EXISTS (SELECT FROM audit_entries WHERE xid >= ${NEXT}) AS yes`;

export async function isAhead(client: pg.ClientBase): Promise<boolean> {
  return (await client.query(SOME_AHEAD)).rows[0].yes;
}

/**
 * Empties the change log. The log restarts at a position with sequence number 0, which no row ever had. Tokens for
 * positions in the old log match neither this position nor any row, so clients' tokens expire. Webhooks deliver only
 * new changes. The other logs keep their rows, but a row whose transaction ID is too high gets the ID of the current
 * transaction.
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

/**
 * Repairs the logs if they contain transaction IDs that this server has not assigned yet. Returns true if the change
 * log was emptied. Must run as the schema's owner.
 */
export async function takeOver(client: pg.ClientBase): Promise<boolean> {
  const ahead = await isAhead(client);
  if (ahead) await client.query(`BEGIN; ${BEGIN_ANEW} COMMIT`);
  return ahead;
}
