/**
 * The privacy-budget ledger of a data provider: what was spent on each event group and day, and the response to each
 * requisition. A response and its charges are written in one transaction, and a stored response is never computed
 * again: a retry sends the stored bytes.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type EncryptedMessage, type Refusal, timestampOf } from '@measurement-exchange/contract';
import {
  addUnits,
  budgetInUnits,
  fromUnits,
  MEASURES,
  type Measure,
  NOTHING,
  type PrivacyAmount,
  type Units,
} from './ledger/amounts.ts';
import { openLedgerFile, openLedgerForReading } from './ledger/schema.ts';

/** The response to a requisition as it is sent to the exchange, without the etag. */
export type RequisitionResponse =
  | { encryptedResult: EncryptedMessage; nonce: bigint; certificate: string; refusal?: undefined }
  | { refusal: Refusal };

/** What a result costs the events of one event group on one UTC day. */
export interface Charge {
  /** The resource name. */
  eventGroup: string;
  /** `2026-07-28` */
  day: string;
  cost: Units;
}

/** What has been spent on an event group and day. */
export interface Spending {
  eventGroup: string;
  day: string;
  spent: PrivacyAmount;
}

/** What a provider has spent and responded. Both budgets, (epsilon, delta) and rho, apply independently. */
export interface Ledger {
  /** The stored response to a requisition. */
  response(requisition: string): RequisitionResponse | undefined;
  /** Throws InsufficientBudget when these charges do not fit, and writes nothing. */
  check(charges: Charge[]): void;
  /**
   * Stores the response with its charges, or throws InsufficientBudget and stores nothing. When the requisition
   * has a response already, that one is returned and nothing is charged.
   */
  commit(requisition: string, response: RequisitionResponse, charges: Charge[]): RequisitionResponse;
  spending(): Spending[];
  /** Describes every inconsistency; empty for a sound ledger. */
  audit(): string[];
  close(): void;
}

/** The budget of an event group and day does not cover what a result costs. */
export class InsufficientBudget extends Error {
  override readonly name = 'InsufficientBudget';
  readonly eventGroup: string;
  readonly day: string;
  readonly left: PrivacyAmount;

  constructor({ eventGroup, day, cost }: Charge, left: Units, short: Measure) {
    super(
      `${eventGroup} on ${day}: this costs ${short} ${fromUnits(cost)[short]}, ` +
        `and ${fromUnits(left)[short]} of its budget is left.`,
    );
    this.eventGroup = eventGroup;
    this.day = day;
    this.left = fromUnits(left);
  }
}

/** Far above any sensible budget, and far below what 64 bits hold. */
const MAX_BUDGET: PrivacyAmount = { epsilon: 1e6, delta: 1, rho: 1e6 };

/**
 * Opens (or creates) the ledger at `path`, for one agent at a time. `budget` is what may be spent on the
 * events of one event group on one UTC day.
 */
export function openLedger(path: string, budget: PrivacyAmount): Ledger {
  for (const measure of MEASURES) {
    if (budget[measure] >= 0 && budget[measure] <= MAX_BUDGET[measure]) continue;
    throw new RangeError(`budget.${measure} must be a number from 0 to ${MAX_BUDGET[measure]}.`);
  }
  const file = openLedgerFile(path);
  return createLedger(file.database, budgetInUnits(budget), file.close);
}

/** Opens a ledger for reading, also while an agent uses it. */
export function readLedger(path: string): Pick<Ledger, 'spending' | 'audit' | 'close'> {
  const database = openLedgerForReading(path);
  return {
    spending: () => spending(database),
    audit: () => audit(database),
    close: () => database.close(),
  };
}

function createLedger(database: DatabaseSync, budget: Units, close: () => void): Ledger {
  const selectResponse = database.prepare('SELECT * FROM answers WHERE requisition = ?');
  const insertResponse = database.prepare(`
    INSERT INTO answers (requisition, answered_at, certificate, nonce, type_url, ciphertext, justification, message)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const insertCharge = database.prepare('INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?)');
  const selectTotal = database.prepare('SELECT * FROM totals WHERE event_group = ? AND day = ?');
  selectTotal.setReadBigInts(true);
  const addToTotal = database.prepare(`
    INSERT INTO totals VALUES (?, ?, ?, ?, ?)
    ON CONFLICT DO UPDATE SET
      epsilon = epsilon + excluded.epsilon, delta = delta + excluded.delta, rho = rho + excluded.rho`);

  function check(charges: Charge[]): void {
    for (const charge of charges) {
      const spent = (selectTotal.get(charge.eventGroup, charge.day) as Units | undefined) ?? NOTHING;
      const after = addUnits(spent, charge.cost);
      const short = MEASURES.find((measure) => charge.cost[measure] > 0n && after[measure] > budget[measure]);
      if (short !== undefined) throw new InsufficientBudget(charge, leftOf(budget, spent), short);
    }
  }

  function write(requisition: string, response: RequisitionResponse, charges: Charge[]): RequisitionResponse {
    const stored = selectResponse.get(requisition);
    if (stored !== undefined) return responseOf(stored as unknown as ResponseRow);
    requireSameProvider(database, requisition);
    check(charges);
    insertResponse.run(requisition, timestampOf(Date.now()), ...columnsOf(response));
    for (const { eventGroup, day, cost } of charges) {
      insertCharge.run(requisition, eventGroup, day, cost.epsilon, cost.delta, cost.rho);
      addToTotal.run(eventGroup, day, cost.epsilon, cost.delta, cost.rho);
    }
    return response;
  }

  return {
    response(requisition) {
      const row = selectResponse.get(requisition);
      return row && responseOf(row as unknown as ResponseRow);
    },
    check,
    commit(requisition, response, charges) {
      database.exec('BEGIN IMMEDIATE');
      try {
        const stored = write(requisition, response, charges);
        database.exec('COMMIT');
        return stored;
      } catch (error) {
        // A full disk may have ended the transaction already.
        if (database.isTransaction) database.exec('ROLLBACK');
        throw error;
      }
    },
    spending: () => spending(database),
    audit: () => audit(database),
    close,
  };
}

function leftOf(budget: Units, spent: Units): Units {
  // The budget may have been lowered below what was already spent.
  const left = (measure: Measure) =>
    budget[measure] > spent[measure] ? budget[measure] - spent[measure] : 0n;
  return { epsilon: left('epsilon'), delta: left('delta'), rho: left('rho') };
}

/** A ledger belongs to one provider: two in one file would share a budget. */
function requireSameProvider(database: DatabaseSync, requisition: string): void {
  const provider = requisition.split('/').slice(0, 2).join('/');
  database.prepare("INSERT INTO settings VALUES ('provider', ?) ON CONFLICT DO NOTHING").run(provider);
  const { value } = database.prepare("SELECT value FROM settings WHERE key = 'provider'").get()!;
  if (value !== provider)
    throw new Error(`This ledger belongs to ${value}: use another file for ${provider}.`);
}

interface ResponseRow {
  certificate: string;
  nonce: string;
  type_url: string;
  ciphertext: Uint8Array;
  justification: Refusal['justification'] | null;
  message: string | null;
}

function columnsOf(response: RequisitionResponse) {
  if (response.refusal)
    return [null, null, null, null, response.refusal.justification, response.refusal.message ?? null];
  const { certificate, nonce, encryptedResult } = response;
  return [certificate, nonce.toString(), encryptedResult.typeUrl, encryptedResult.ciphertext, null, null];
}

function responseOf(row: ResponseRow): RequisitionResponse {
  const { justification, message } = row;
  if (justification !== null) return { refusal: { justification, ...(message !== null && { message }) } };
  return {
    encryptedResult: { ciphertext: row.ciphertext, typeUrl: row.type_url },
    nonce: BigInt(row.nonce),
    certificate: row.certificate,
  };
}

function spending(database: DatabaseSync): Spending[] {
  const select = database.prepare('SELECT * FROM totals ORDER BY event_group, day');
  select.setReadBigInts(true);
  return (select.all() as unknown as (Units & { event_group: string; day: string })[]).map((row) => ({
    eventGroup: row.event_group,
    day: row.day,
    spent: fromUnits(row),
  }));
}

/** Each query finds nothing in a sound ledger. */
const AUDIT: [what: string, query: string][] = [
  [
    'the total is not the sum of its charges',
    `SELECT event_group || ' ' || day AS place FROM (
       SELECT event_group, day, epsilon, delta, rho FROM totals
       UNION ALL SELECT event_group, day, -epsilon, -delta, -rho FROM charges)
     GROUP BY event_group, day HAVING sum(epsilon) <> 0 OR sum(delta) <> 0 OR sum(rho) <> 0`,
  ],
  [
    'a refusal is charged',
    `SELECT DISTINCT requisition AS place FROM charges JOIN answers USING (requisition)
     WHERE justification IS NOT NULL`,
  ],
  [
    'a charge has no response',
    'SELECT requisition AS place FROM charges WHERE requisition NOT IN (SELECT requisition FROM answers)',
  ],
];

function audit(database: DatabaseSync): string[] {
  const damage = database
    .prepare('PRAGMA integrity_check')
    .all()
    .map((row) => String(row.integrity_check))
    .filter((line) => line !== 'ok');
  const faults = AUDIT.flatMap(([what, query]) =>
    database
      .prepare(query)
      .all()
      .map((row) => `${row.place}: ${what}`),
  );
  return [...damage, ...faults];
}
