/** The prepared statements of an agent's ledger. */
import type { DatabaseSync } from 'node:sqlite';
import { ANY_REFERENCE } from './tables.ts';

export type Statements = ReturnType<typeof prepareStatements>;

export function prepareStatements(database: DatabaseSync) {
  const selectResponse = database.prepare('SELECT * FROM responses WHERE requisition = ?');
  const insertResponse = database.prepare(`
    INSERT INTO responses (requisition, responded_at, certificate, nonce, type_url, ciphertext, duchy, fulfillment,
      justification, message)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  const selectAttempts = database.prepare('SELECT count FROM attempts WHERE requisition = ?');
  const countAttempt = database.prepare(
    'INSERT INTO attempts VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count',
  );
  const endAttempt = database.prepare('UPDATE attempts SET count = max(count - 1, 0) WHERE requisition = ?');
  const selectCharges = database.prepare('SELECT 1 FROM charges WHERE requisition = ? LIMIT 1');
  const selectCharge = database.prepare(
    'SELECT epsilon, delta, rho FROM charges WHERE requisition = ? AND reference = ? AND day = ?',
  );
  const selectTotal = database.prepare(`
    SELECT coalesce(sum(epsilon), 0) AS epsilon, coalesce(sum(delta), 0) AS delta, coalesce(sum(rho), 0) AS rho
    FROM totals WHERE reference IN (?, '${ANY_REFERENCE}') AND day = ?`);
  const selectConfirmed = database.prepare('SELECT 1 FROM confirmed_references WHERE reference = ?');
  const orAdd = `ON CONFLICT DO UPDATE SET
    epsilon = epsilon + excluded.epsilon, delta = delta + excluded.delta, rho = rho + excluded.rho`;
  const addToCharge = database.prepare(`INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?) ${orAdd}`);
  const addToTotal = database.prepare(`INSERT INTO totals VALUES (?, ?, ?, ?, ?) ${orAdd}`);
  for (const select of [selectCharge, selectTotal]) select.setReadBigInts(true);
  return {
    selectResponse,
    insertResponse,
    selectAttempts,
    countAttempt,
    endAttempt,
    selectCharges,
    selectCharge,
    selectTotal,
    selectConfirmed,
    addToCharge,
    addToTotal,
    insertProvider: database.prepare("INSERT INTO settings VALUES ('provider', ?) ON CONFLICT DO NOTHING"),
    selectProvider: database.prepare("SELECT value FROM settings WHERE key = 'provider'"),
  };
}
