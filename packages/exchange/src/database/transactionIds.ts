/**
 * The logs go by the IDs of transactions. A database that was restored from a dump has those of another server: where they
 * are ahead of this server's, new changes would come before old ones, and nobody who follows would see them.
 */
import type pg from 'pg';

/** No transaction from here on has committed on this server. */
const NEXT = 'pg_snapshot_xmax(pg_current_snapshot())';

/** A row for each one that is ahead, with the name of its table; reads whole tables. */
export const ALL_AHEAD = ['changes', 'changes_removed', 'transitions', 'audit_entries']
  .map((relation) => `SELECT '${relation}' AS name FROM ${relation} WHERE xid >= ${NEXT}`)
  .join(' UNION ALL ');

/** By indexes. Transitions are as old as changes, or older. */
const SOME_AHEAD = `
  SELECT EXISTS (SELECT FROM parties p CROSS JOIN LATERAL (
             SELECT FROM changes c WHERE c.party = p.name AND c.xid >= ${NEXT} ORDER BY c.xid DESC LIMIT 1) AS newest)
      OR EXISTS (SELECT FROM changes_removed WHERE xid >= ${NEXT})
      OR EXISTS (SELECT FROM audit_entries WHERE xid >= ${NEXT}) AS yes`;

export async function isAhead(client: pg.ClientBase): Promise<boolean> {
  return (await client.query(SOME_AHEAD)).rows[0].yes;
}

/**
 * The log of changes begins anew: every token is expired, and webhooks continue with changes from now on. The other
 * logs keep their rows and their order. A place with sequence number 0 is that of no row, so that nobody has a token of it.
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

/** As the owner of the schema. Returns whether the database was restored from a dump of a server that was ahead. */
export async function takeOver(client: pg.ClientBase): Promise<boolean> {
  const ahead = await isAhead(client);
  if (ahead) await client.query(`BEGIN; ${BEGIN_ANEW} COMMIT`);
  return ahead;
}
