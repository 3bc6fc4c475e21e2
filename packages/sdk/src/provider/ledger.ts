/**
 * The privacy-budget ledger of a data provider: what was spent on each reference and day, and the response to each
 * requisition. A requisition is charged before its events are read, and stays charged whatever comes of it. A stored
 * response is never computed again: a retry sends the stored bytes.
 */
import type { DatabaseSync } from 'node:sqlite';
import { type EncryptedMessage, type Refusal, timestampOf } from '@measurement-exchange/contract';
import { partyOf } from '../client/names.ts';
import { RefusalError, type RefusalPlace } from '../refusals/refusalError.ts';
import {
  addUnits,
  budgetInUnits,
  excessUnits,
  fromUnits,
  MEASURES,
  type Measure,
  NOTHING,
  type PrivacyAmount,
  type Units,
} from './ledger/amounts.ts';
import {
  type ConfirmedReference,
  confirmedReferences,
  confirmIn,
  type HeldQuestion,
  type HeldQuestions,
  heldIn,
  heldQuestions,
} from './ledger/inventory.ts';
import { type RejectedUpload, type Rejections, rejectedUploads, rejectionsIn } from './ledger/rejections.ts';
import { ANY_REFERENCE, openLedgerBeside, openLedgerFile, openLedgerForReading } from './ledger/schema.ts';

/** The response to a requisition as it is sent to the exchange, without the etag. */
export type DirectResponse =
  | { encryptedResult: EncryptedMessage; nonce: bigint; certificate: string; refusal?: never; upload?: never }
  | { refusal: Refusal; upload?: never };

/** The response to a requisition: to the exchange, or to a duchy. */
export type RequisitionResponse = DirectResponse | { upload: Upload; refusal?: never };

/** The signed part of an upload to a duchy; the share itself is in a file. */
export interface Upload {
  /** `duchies/…` */
  duchy: string;
  /** The part `fulfillment` as it is sent, in JSON: signed, with the digest of the share. */
  fulfillment: string;
}

/** The cost of a result for the events of one reference on one UTC day. */
export interface Charge {
  /** The value that selects the rows in the provider's own data, whatever the exchange calls their event group. */
  reference: string;
  /** `2026-07-28` */
  day: string;
  cost: Units;
  /** Where the specification selects the day, for a refusal. */
  at?: RefusalPlace;
}

/** The amount spent on a reference and day. */
export interface Spending {
  /** Empty for what an earlier version charged without one: it counts against every reference. */
  reference: string;
  day: string;
  spent: PrivacyAmount;
}

/** The spent budget and the responses of a provider. Both budgets, (epsilon, delta) and rho, apply independently. */
export interface Ledger {
  /** The stored response to a requisition. */
  response(requisition: string): RequisitionResponse | undefined;
  /**
   * Charges a requisition before its events are read, and returns how many attempts at it have not ended: 1, and one for
   * each during which the process was killed. Throws InsufficientBudget where the charges do not fit, and writes nothing. A
   * charge of an earlier attempt is not made again; it is raised where this one costs more.
   */
  begin(requisition: string, charges: Charge[]): number;
  /** The attempt ended with an error, and may be repeated. */
  end(requisition: string): void;
  /**
   * Stores the response. When the requisition has one already, that one is returned. A result needs `begin` before;
   * a refusal may come without, where no data was read to decide it.
   */
  commit(requisition: string, response: RequisitionResponse): RequisitionResponse;
  /** Whether `begin` charged something for the requisition. */
  isCharged(requisition: string): boolean;
  /** The rejections of stored uploads by their duchies. */
  rejections: Rejections;
  /** Whether the operator confirmed that the events have this reference. */
  isConfirmed(reference: string): boolean;
  /** Questions about references that nobody confirmed. */
  held: HeldQuestions;
  spending(): Spending[];
  /** Describes every inconsistency; empty for a sound ledger. */
  audit(): string[];
  close(): void;
}

/** The part of a ledger that may be read while an agent uses it. */
export interface LedgerReader extends Pick<Ledger, 'spending' | 'audit' | 'close'> {
  responses(): ResponseCounts;
  /** Uploads that their duchies reject, and that are sent again. */
  rejectedUploads(): RejectedUpload[];
  confirmedReferences(): ConfirmedReference[];
  heldQuestions(): HeldQuestion[];
}

/** How many requisitions have a response of each kind. */
export interface ResponseCounts {
  results: number;
  uploads: number;
  refusals: number;
  /** When the latest of them was stored. */
  lastTime: string | undefined;
}

/** The budget of a reference and day does not cover what a result costs. */
export class InsufficientBudget extends RefusalError {
  override readonly name = 'InsufficientBudget';
  readonly reference: string;
  readonly day: string;
  readonly left: PrivacyAmount;

  constructor({ reference, day, cost, at }: Charge, left: Units, short: Measure) {
    super(
      'BUDGET_EXCEEDED',
      `${reference} on ${day}: this costs ${short} ${fromUnits(cost)[short]}, ` +
        `and ${fromUnits(left)[short]} of its budget is left.`,
      { at },
    );
    this.reference = reference;
    this.day = day;
    this.left = fromUnits(left);
  }
}

/** Far above any sensible budget, and far below what 64 bits hold. */
const MAX_BUDGET: PrivacyAmount = { epsilon: 1e6, delta: 1, rho: 1e6 };

/**
 * Opens (or creates) the ledger at `path`, for one agent at a time. `budget` is what may be spent on the
 * events of one reference on one UTC day, by all consumers together.
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
export function readLedger(path: string): LedgerReader {
  const database = openLedgerForReading(path);
  return {
    responses: () => responseCounts(database),
    rejectedUploads: () => rejectedUploads(database),
    confirmedReferences: () => confirmedReferences(database),
    heldQuestions: () => heldQuestions(database),
    spending: () => spending(database),
    audit: () => audit(database),
    close: () => database.close(),
  };
}

/**
 * The operator confirms that the events have these references, also while an agent uses the ledger: it then answers the
 * questions that it holds.
 */
export function confirmReferences(path: string, references: Iterable<string>): void {
  const database = openLedgerBeside(path);
  try {
    confirmIn(database, references);
  } finally {
    database.close();
  }
}

function createLedger(database: DatabaseSync, budget: Units, close: () => void): Ledger {
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
  for (const select of [selectCharge, selectTotal]) select.setReadBigInts(true);
  const orAdd = `ON CONFLICT DO UPDATE SET
    epsilon = epsilon + excluded.epsilon, delta = delta + excluded.delta, rho = rho + excluded.rho`;
  const addToCharge = database.prepare(`INSERT INTO charges VALUES (?, ?, ?, ?, ?, ?) ${orAdd}`);
  const addToTotal = database.prepare(`INSERT INTO totals VALUES (?, ?, ?, ?, ?) ${orAdd}`);

  function response(requisition: string): RequisitionResponse | undefined {
    const row = selectResponse.get(requisition);
    return row && responseOf(row as unknown as ResponseRow);
  }

  /** Charges what the requisition has not been charged yet. */
  function add(requisition: string, charge: Charge): void {
    const { reference, day } = charge;
    const charged = (selectCharge.get(requisition, reference, day) as Units | undefined) ?? NOTHING;
    const added = excessUnits(charge.cost, charged);
    const spent = selectTotal.get(reference, day) as unknown as Units;
    const after = addUnits(spent, added);
    const short = MEASURES.find((measure) => added[measure] > 0n && after[measure] > budget[measure]);
    // The budget may have been lowered below what was already spent.
    if (short !== undefined) throw new InsufficientBudget(charge, excessUnits(budget, spent), short);
    addToCharge.run(requisition, reference, day, added.epsilon, added.delta, added.rho);
    addToTotal.run(reference, day, added.epsilon, added.delta, added.rho);
  }

  /** All of it is on disk when this returns, or none of it. */
  function transaction<T>(write: () => T): T {
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = write();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      // A full disk may have ended the transaction already.
      if (database.isTransaction) database.exec('ROLLBACK');
      throw error;
    }
  }

  return {
    response,
    begin: (requisition, charges) =>
      transaction(() => {
        requireSameProvider(database, requisition);
        if (response(requisition))
          throw new Error(`${requisition} has a response: it is not computed again.`);
        const { count } = countAttempt.get(requisition)!;
        for (const charge of charges) add(requisition, charge);
        return Number(count);
      }),
    end: (requisition) => void endAttempt.run(requisition),
    commit: (requisition, given) =>
      transaction(() => {
        const stored = response(requisition);
        if (stored) return stored;
        requireSameProvider(database, requisition);
        if (!given.refusal && !selectAttempts.get(requisition)) {
          throw new Error(`${requisition} was not charged: call begin before its result is computed.`);
        }
        insertResponse.run(requisition, timestampOf(Date.now()), ...columnsOf(given));
        return given;
      }),
    isCharged: (requisition) => selectCharges.get(requisition) !== undefined,
    rejections: rejectionsIn(database),
    isConfirmed: (reference) => selectConfirmed.get(reference) !== undefined,
    held: heldIn(database),
    spending: () => spending(database),
    audit: () => audit(database),
    close,
  };
}

/** A ledger belongs to one provider: two in one file would share a budget. */
function requireSameProvider(database: DatabaseSync, requisition: string): void {
  const provider = partyOf(requisition);
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
  duchy: string;
  fulfillment: string | null;
  justification: Refusal['justification'] | null;
  message: string | null;
}

function columnsOf({ refusal, upload, ...result }: RequisitionResponse) {
  const empty = (count: number) => Array<null>(count).fill(null);
  if (refusal) return [...empty(6), refusal.justification, refusal.message ?? null];
  if (upload) return [...empty(4), upload.duchy, upload.fulfillment, ...empty(2)];
  const { certificate, nonce, encryptedResult } = result as Extract<DirectResponse, { nonce: bigint }>;
  return [certificate, nonce.toString(), encryptedResult.typeUrl, encryptedResult.ciphertext, ...empty(4)];
}

function responseOf(row: ResponseRow): RequisitionResponse {
  const { justification, message, duchy, fulfillment } = row;
  if (justification !== null) return { refusal: { justification, ...(message !== null && { message }) } };
  if (fulfillment !== null) return { upload: { duchy, fulfillment } };
  return {
    encryptedResult: { ciphertext: row.ciphertext, typeUrl: row.type_url },
    nonce: BigInt(row.nonce),
    certificate: row.certificate,
  };
}

function responseCounts(database: DatabaseSync): ResponseCounts {
  const row = database
    .prepare(
      `SELECT count(ciphertext) AS results, count(fulfillment) AS uploads, count(justification) AS refusals,
         max(responded_at) AS last_time FROM responses`,
    )
    .get() as unknown as Record<'results' | 'uploads' | 'refusals', number> & { last_time: string | null };
  const { last_time, ...counts } = row;
  return { ...counts, lastTime: last_time ?? undefined };
}

function spending(database: DatabaseSync): Spending[] {
  const select = database.prepare('SELECT * FROM totals ORDER BY reference, day');
  select.setReadBigInts(true);
  return (select.all() as unknown as (Units & { reference: string; day: string })[]).map((row) => ({
    reference: row.reference,
    day: row.day,
    spent: fromUnits(row),
  }));
}

/** Each query finds nothing in a sound ledger. */
const AUDIT: [what: string, query: string][] = [
  [
    'the total is not the sum of its charges',
    `SELECT reference || ' ' || day AS place FROM (
       SELECT reference, day, epsilon, delta, rho FROM totals
       UNION ALL SELECT reference, day, -epsilon, -delta, -rho FROM charges)
     GROUP BY reference, day HAVING sum(epsilon) <> 0 OR sum(delta) <> 0 OR sum(rho) <> 0`,
  ],
  [
    'a charge has no attempt',
    'SELECT DISTINCT requisition AS place FROM charges WHERE requisition NOT IN (SELECT requisition FROM attempts)',
  ],
  [
    'a result has no attempt',
    `SELECT requisition AS place FROM responses
     WHERE justification IS NULL AND requisition NOT IN (SELECT requisition FROM attempts)`,
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
