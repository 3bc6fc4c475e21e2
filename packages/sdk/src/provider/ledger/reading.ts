/**
 * Reads the spending and responses in a ledger, and checks the ledger for consistency. An agent may be using the ledger
 * at the same time.
 */
import type { DatabaseSync } from 'node:sqlite';
import { fromUnits, type PrivacyAmount } from '@measurement-exchange/mpc/charges';
import type { AgentStatus } from './agentStatus.ts';
import {
  type ConfirmedReference,
  confirmedReferences,
  type HeldQuestion,
  heldQuestions,
} from './inventory.ts';
import { type RejectedUpload, rejectedUploads } from './rejections.ts';
import { type BudgetReport, budgetReport } from './report.ts';
import { openLedgerForReading } from './schema.ts';
import { worstTotals } from './worstTotals.ts';

/** The largest amount of privacy budget spent on any one person, for one event group reference and one day. */
export interface Spending {
  /** Empty for charges from schema 1, which stored no references. These charges count against every reference. */
  reference: string;
  day: string;
  spent: PrivacyAmount;
}

/** A reader for a ledger that an agent may be using. */
export interface LedgerReader {
  spending(): Spending[];
  /** Returns a description of each inconsistency. The list is empty if the ledger is consistent. */
  audit(): string[];
  close(): void;
  budget(): BudgetReport;
  responses(): ResponseCounts;
  /** Returns the latest `count` responses, newest first. */
  lastResponses(count: number): StoredResponse[];
  /** Returns the status that the agent last stored, or undefined if it has not stored one yet. */
  agentStatus(): AgentStatus | undefined;
  /** Returns the uploads that duchies have rejected and that the agent will send again. */
  rejectedUploads(): RejectedUpload[];
  confirmedReferences(): ConfirmedReference[];
  heldQuestions(): HeldQuestion[];
}

/** The number of requisitions with each kind of response, and the time of the last response. */
export interface ResponseCounts {
  results: number;
  uploads: number;
  refusals: number;
  lastTime: string | undefined;
}

/** A response, without its content. */
export interface StoredResponse {
  requisition: string;
  time: string;
  response: 'RESULT' | 'UPLOAD' | 'REFUSAL';
  /** Absent if an earlier version of the agent stored the response. */
  measurement?: string;
  justification?: string;
  message?: string;
}

/** Opens a ledger for reading, even while an agent is using it. */
export function readLedger(path: string): LedgerReader {
  const database = openLedgerForReading(path);
  return {
    budget: () => budgetReport(database),
    lastResponses: (count) => lastResponses(database, count),
    agentStatus: () => agentStatus(database),
    responses: () => responseCounts(database),
    rejectedUploads: () => rejectedUploads(database),
    confirmedReferences: () => confirmedReferences(database),
    heldQuestions: () => heldQuestions(database),
    spending: () => spending(database),
    audit: () => audit(database),
    close: () => database.close(),
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

function lastResponses(database: DatabaseSync, count: number): StoredResponse[] {
  const select = database.prepare(
    `SELECT requisition, responded_at AS time, measurement, justification, message,
       CASE WHEN justification IS NOT NULL THEN 'REFUSAL' WHEN fulfillment IS NOT NULL THEN 'UPLOAD' ELSE 'RESULT' END
         AS response
     FROM responses LEFT JOIN questions USING (requisition) ORDER BY responded_at DESC, requisition LIMIT ?`,
  );
  return select
    .all(count)
    .map((row) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)) as never);
}

function agentStatus(database: DatabaseSync): AgentStatus | undefined {
  const row = database.prepare("SELECT value FROM settings WHERE key = 'agent'").get();
  return row && JSON.parse(String(row.value));
}

export function spending(database: DatabaseSync): Spending[] {
  return worstTotals(database).map(({ reference, day, units }) => ({
    reference,
    day,
    spent: fromUnits(units),
  }));
}

/** The consistency checks. Each query returns one row per inconsistency. */
const AUDIT: [what: string, query: string][] = [
  [
    'the total is not the sum of its charges',
    `SELECT reference || ' ' || day AS place FROM (
       SELECT reference, day, slice, epsilon, delta, rho FROM totals
       UNION ALL SELECT reference, day, slice, -epsilon, -delta, -rho FROM charges)
     GROUP BY reference, day, slice HAVING sum(epsilon) <> 0 OR sum(delta) <> 0 OR sum(rho) <> 0`,
  ],
  [
    'a charge is for people whom the ledger does not name',
    'SELECT DISTINCT requisition AS place FROM charges WHERE slice NOT IN (SELECT id FROM slices)',
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

export function audit(database: DatabaseSync): string[] {
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
