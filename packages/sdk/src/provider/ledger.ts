/**
 * A data provider's privacy budget ledger, which stores the amounts spent on each event group reference and day, and
 * the response to each requisition. A requisition is charged before its events are read, and stays charged whatever the
 * outcome. A response is computed only once, and a retry sends the stored bytes.
 */
import type { DatabaseSync } from 'node:sqlite';
import { timestampOf } from '@measurement-exchange/contract';
import {
  addUnits,
  budgetInUnits,
  EVERYBODY,
  excessUnits,
  fromUnits,
  MEASURES,
  NOTHING,
  type PrivacyAmount,
  type Units,
} from '@measurement-exchange/mpc/charges';
import { partyOf } from '../client/names.ts';
import type { AgentStatus } from './ledger/agentStatus.ts';
import { type Charge, InsufficientBudget } from './ledger/charges.ts';
import { confirmIn, type HeldQuestions, heldIn } from './ledger/inventory.ts';
import { audit, type Spending, spending } from './ledger/reading.ts';
import { type Rejections, rejectionsIn } from './ledger/rejections.ts';
import { type SpendingRange, spendingRanges } from './ledger/report.ts';
import { columnsOf, type RequisitionResponse, type ResponseRow, responseOf } from './ledger/responses.ts';
import { type OpenFile, openLedgerBeside, openLedgerFile } from './ledger/schema.ts';
import { type SliceRow, StoredSlices } from './ledger/slices.ts';
import { prepareStatements, type Statements } from './ledger/statements.ts';

/**
 * The largest allowed budget, far above any sensible budget. Converted to the ledger's integer units, it fits in 64
 * bits.
 */
const MAX_BUDGET: PrivacyAmount = { epsilon: 1e6, delta: 1, rho: 1e6 };

/**
 * Opens or creates the ledger at `path`. Only one agent can have it open at a time. `budget` is the amount that all
 * consumers together may spend on the events of one event group reference on one UTC day.
 */
export function openLedger(path: string, budget: PrivacyAmount): Ledger {
  for (const measure of MEASURES) {
    if (budget[measure] >= 0 && budget[measure] <= MAX_BUDGET[measure]) continue;
    throw new RangeError(`budget.${measure} must be a number from 0 to ${MAX_BUDGET[measure]}.`);
  }
  return new Ledger(openLedgerFile(path), budgetInUnits(budget));
}

/**
 * Records that the operator confirmed these event group references. An agent that uses the ledger then answers the
 * requisitions that were held until the confirmation.
 */
export function confirmReferences(path: string, references: Iterable<string>): void {
  const database = openLedgerBeside(path);
  try {
    confirmIn(database, references);
  } finally {
    database.close();
  }
}

/**
 * A provider's spent budget and responses. A charge must stay within both the (epsilon, delta) budget and the rho
 * budget. Both budgets apply per person: a charge to a slice of people counts only for the people in the slice.
 */
export class Ledger {
  /** The duchies' rejections of stored uploads. */
  readonly rejections: Rejections;
  /** The requisitions that wait until the operator confirms their event group references. */
  readonly held: HeldQuestions;
  private readonly database: DatabaseSync;
  private readonly budget: Units;
  private readonly closeFile: () => void;
  private readonly statements: Statements;
  private readonly slices: StoredSlices;

  /** Use `openLedger` instead of this constructor. */
  constructor({ database, close }: OpenFile, budget: Units) {
    this.database = database;
    this.budget = budget;
    this.closeFile = close;
    this.statements = prepareStatements(database);
    this.slices = new StoredSlices(this.statements);
    this.rejections = rejectionsIn(database);
    this.held = heldIn(database);
    this.statements.setBudget.run(JSON.stringify(fromUnits(budget)));
  }

  response(requisition: string): RequisitionResponse | undefined {
    const row = this.statements.selectResponse.get(requisition);
    return row && responseOf(row as unknown as ResponseRow);
  }

  /**
   * Charges a requisition before its events are read. If an earlier attempt was charged, charges only the difference.
   * Throws InsufficientBudget and writes nothing if the charges exceed the budget. Returns the number of unfinished
   * attempts: this attempt, and earlier attempts that crashed. Also stores `measurement`, so that the operator can see
   * which measurement was charged.
   */
  begin(requisition: string, charges: Charge[], measurement?: string): number {
    return this.transaction(() => {
      this.requireProvider(partyOf(requisition));
      if (this.response(requisition)) {
        throw new Error(`${requisition} has a response: it is not computed again.`);
      }
      this.noteQuestion(requisition, measurement);
      const { count } = this.statements.countAttempt.get(requisition)!;
      for (const charge of charges) this.charge(requisition, charge);
      return Number(count);
    });
  }

  /** Records that an attempt ended with an error. `begin` then no longer counts the attempt as unfinished. */
  end(requisition: string): void {
    this.statements.endAttempt.run(requisition);
  }

  /**
   * Stores the response and returns it, or returns the response that is already stored. A result or upload requires an
   * earlier call to `begin`. A refusal does not, because it may be decided before any events are read.
   */
  commit(requisition: string, given: RequisitionResponse, measurement?: string): RequisitionResponse {
    return this.transaction(() => {
      const stored = this.response(requisition);
      if (stored) return stored;
      this.requireProvider(partyOf(requisition));
      if (!given.refusal && !this.statements.selectAttempts.get(requisition)) {
        throw new Error(`${requisition} was not charged: call begin before its result is computed.`);
      }
      this.noteQuestion(requisition, measurement);
      this.statements.insertResponse.run(requisition, timestampOf(Date.now()), ...columnsOf(given));
      return given;
    });
  }

  isCharged(requisition: string): boolean {
    return this.statements.selectCharges.get(requisition) !== undefined;
  }

  isConfirmed(reference: string): boolean {
    return this.statements.selectConfirmed.get(reference) !== undefined;
  }

  /** Stores the agent's status, for `LedgerReader.agentStatus`. Ignores errors, such as a full disk. */
  storeStatus(status: AgentStatus): void {
    try {
      this.statements.setStatus.run(JSON.stringify(status));
    } catch {
      // Ignore the error. If the disk is full, the next charge fails too, and that failure is reported.
    }
  }

  /**
   * Returns the spent and the remaining budget of each event group reference. Consecutive days with equal amounts form
   * one range.
   */
  ranges(): SpendingRange[] {
    return spendingRanges(this.database, fromUnits(this.budget));
  }

  spending(): Spending[] {
    return spending(this.database);
  }

  /** Returns a description of each inconsistency. The list is empty if the ledger is consistent. */
  audit(): string[] {
    return audit(this.database);
  }

  close(): void {
    this.closeFile();
  }

  /**
   * Charges the part of the cost that has not been charged yet. Throws InsufficientBudget if the budget is too small.
   */
  private charge(requisition: string, charge: Charge): void {
    const { selectCharge, selectTotals, addToCharge, addToTotal } = this.statements;
    const { reference, day } = charge;
    const totals = this.slices.amountsOf(selectTotals.all(reference, day) as unknown as SliceRow[]);
    const slice = this.slices.sums.chargeable(totals, charge.slice ?? EVERYBODY);
    const id = this.slices.idOf(slice);
    const charged = (selectCharge.get(requisition, reference, day, id) as Units | undefined) ?? NOTHING;
    const added = excessUnits(charge.cost, charged);
    const spent = this.slices.sums.worst(totals, slice);
    const after = addUnits(spent, added);
    const short = MEASURES.find((measure) => added[measure] > 0n && after[measure] > this.budget[measure]);
    // If the budget was lowered below the amount already spent, the error says that 0 is left, not a negative amount.
    if (short !== undefined) throw new InsufficientBudget(charge, excessUnits(this.budget, spent), short);
    addToCharge.run(requisition, reference, day, id, added.epsilon, added.delta, added.rho);
    addToTotal.run(reference, day, id, added.epsilon, added.delta, added.rho);
  }

  /** Runs `write` in a transaction. On return, all writes are on disk. If `write` throws, nothing is written. */
  private transaction<T>(write: () => T): T {
    const { database } = this;
    database.exec('BEGIN IMMEDIATE');
    try {
      const result = write();
      database.exec('COMMIT');
      return result;
    } catch (error) {
      // If the disk is full, SQLite may already have ended the transaction.
      if (database.isTransaction) database.exec('ROLLBACK');
      this.slices.reload();
      throw error;
    }
  }

  private noteQuestion(requisition: string, measurement: string | undefined): void {
    if (measurement === undefined) return;
    this.statements.insertQuestion.run(requisition, measurement, timestampOf(Date.now()));
  }

  /**
   * Makes the provider the owner of the ledger if the ledger has no owner yet. Throws if the ledger belongs to another
   * provider, because two providers in one ledger would share a budget.
   */
  requireProvider(provider: string): void {
    this.statements.insertProvider.run(provider);
    const { value } = this.statements.selectProvider.get()!;
    if (value === provider) return;
    throw new Error(`This ledger belongs to ${value}: use another file for ${provider}.`);
  }
}
