/** Prepared statements for an agent's ledger. */
import type { DatabaseSync } from 'node:sqlite';
import { ANY_REFERENCE } from './tables.ts';

export type Statements = ReturnType<typeof prepareStatements>;

const ADD = `ON CONFLICT DO UPDATE SET
  epsilon = epsilon + excluded.epsilon, delta = delta + excluded.delta, rho = rho + excluded.rho`;

export function prepareStatements(database: DatabaseSync) {
  const statements = {
    selectResponse: database.prepare('SELECT * FROM responses WHERE requisition = ?'),
    insertResponse: database.prepare(`
      INSERT INTO responses (requisition, responded_at, certificate, nonce, type_url, ciphertext, duchy, fulfillment,
        justification, message)
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`),
    selectAttempts: database.prepare('SELECT count FROM attempts WHERE requisition = ?'),
    countAttempt: database.prepare(
      'INSERT INTO attempts VALUES (?, 1) ON CONFLICT DO UPDATE SET count = count + 1 RETURNING count',
    ),
    endAttempt: database.prepare('UPDATE attempts SET count = max(count - 1, 0) WHERE requisition = ?'),
    selectCharges: database.prepare('SELECT 1 FROM charges WHERE requisition = ? LIMIT 1'),
    selectCharge: database.prepare(
      'SELECT epsilon, delta, rho FROM charges WHERE requisition = ? AND reference = ? AND day = ? AND slice = ?',
    ),
    selectTotals: database.prepare(
      `SELECT slice, epsilon, delta, rho FROM totals WHERE reference IN (?, '${ANY_REFERENCE}') AND day = ?`,
    ),
    selectSlices: database.prepare('SELECT id, people FROM slices'),
    insertSlice: database.prepare('INSERT INTO slices (people) VALUES (?) RETURNING id'),
    selectConfirmed: database.prepare('SELECT 1 FROM confirmed_references WHERE reference = ?'),
    addToCharge: database.prepare(`INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?, ?) ${ADD}`),
    addToTotal: database.prepare(`INSERT INTO totals VALUES (?, ?, ?, ?, ?, ?) ${ADD}`),
    insertProvider: database.prepare("INSERT INTO settings VALUES ('provider', ?) ON CONFLICT DO NOTHING"),
    setBudget: database.prepare(
      "INSERT INTO settings VALUES ('budget', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    ),
    setStatus: database.prepare(
      "INSERT INTO settings VALUES ('agent', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
    ),
    insertQuestion: database.prepare('INSERT INTO questions VALUES (?, ?, ?) ON CONFLICT DO NOTHING'),
    selectProvider: database.prepare("SELECT value FROM settings WHERE key = 'provider'"),
  };
  statements.selectCharge.setReadBigInts(true);
  statements.selectTotals.setReadBigInts(true);
  return statements;
}
