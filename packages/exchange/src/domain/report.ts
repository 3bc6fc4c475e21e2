/**
 * The rules of reports. No rule depends on the meaning of a definition or an answer, because the exchange may have only
 * the encrypted form.
 */
import { hash } from 'node:crypto';
import {
  type EncryptedMessage,
  ExchangeError,
  equalBytes,
  invalid,
  MAX_REPORT_DEFINITION_BYTES,
  type ReportInput,
  type ReportState,
  type ReportUpdate,
  type Timestamp,
  type Violation,
} from '@measurement-exchange/contract';
import { type Entry, entryViolations, progressOf } from './reportEntries.ts';
import { nextVersion } from './time.ts';

/** The maximum number of reports of a consumer, not counting deleted reports. */
export const MAX_REPORTS = 10_000;

export interface ReportRecord {
  consumer: string;
  id: string;
  title: string | undefined;
  definition: string | undefined;
  sealedDefinition: EncryptedMessage | undefined;
  /** Undefined only if the report is deleted. */
  definitionHash: Uint8Array | undefined;
  sealedAnswer: EncryptedMessage | undefined;
  measurementCount: number;
  /** The state that the exchange most recently derived from the report's measurements. */
  state: ReportState | 'DELETED';
  /** The ID of a pending measurement of the report. When this measurement ends, the state must be derived again. */
  waitingFor: string | undefined;
  /**
   * Increases by one when the consumer updates the report. `version` also increases by one when only the state changes.
   */
  revision: number;
  version: number;
  createTime: Timestamp;
  updateTime: Timestamp;
}

export interface ReportWithEntries {
  report: ReportRecord;
  /** The report's measurements, in the order in which they were appended. */
  entries: Entry[];
}

export function reportName({ consumer, id }: Pick<ReportRecord, 'consumer' | 'id'>): string {
  return `${consumer}/reports/${id}`;
}

/**
 * Returns the etag of a report. The etag depends on the revision instead of the version. The version also increases
 * when the end of a measurement changes the report's state, and such a change must not make an update fail.
 */
export function reportEtag({ consumer, id, revision }: ReportRecord): string {
  return hash('sha256', `${consumer} ${id} ${revision}`).slice(0, 20);
}

export function requireValid(consumer: string, input: ReportInput | ReportUpdate): void {
  const violations = entryViolations(consumer, input.measurements ?? []);
  const { definition, sealedDefinition } = input;
  if (definition !== undefined && Buffer.byteLength(definition) > MAX_REPORT_DEFINITION_BYTES) {
    const description = `must have at most ${MAX_REPORT_DEFINITION_BYTES} bytes`;
    violations.push({ field: 'definition', description });
  }
  const isNew = !('etag' in input);
  if (isNew && (definition === undefined) === (sealedDefinition === undefined)) {
    const description = 'a report has either sealedDefinition or definition: set exactly one of them';
    violations.push({ field: 'sealedDefinition', description });
  }
  if (violations.length > 0) throw invalid(violations);
}

export function newReport(
  ids: { consumer: string; id: string },
  { title, definition, sealedDefinition, definitionHash, sealedAnswer }: ReportInput,
  entries: Entry[],
  now: Timestamp,
): ReportRecord {
  return {
    ...ids,
    ...{ title, definition, sealedDefinition, definitionHash, sealedAnswer },
    measurementCount: entries.length,
    ...progressOf(entries),
    ...{ revision: 1, version: 1, createTime: now, updateTime: now },
  };
}

export function requireCurrent(report: ReportRecord, update: ReportUpdate): void {
  const actual = reportEtag(report);
  if (update.etag !== actual) {
    throw new ExchangeError(
      'REPORT_ETAG_MISMATCH',
      'The report changed since it was read: read it again and retry with its etag.',
      { metadata: { requestEtag: update.etag, actualEtag: actual } },
    );
  }
  const violations = definitionViolations(report, update);
  if (violations.length > 0) throw invalid(violations);
}

function definitionViolations(report: ReportRecord, update: ReportUpdate): Violation[] {
  const fields = {
    definition: [report.definition, update.definition],
    'sealedDefinition.ciphertext': [report.sealedDefinition?.ciphertext, update.sealedDefinition?.ciphertext],
    'sealedDefinition.typeUrl': [report.sealedDefinition?.typeUrl, update.sealedDefinition?.typeUrl],
    definitionHash: [report.definitionHash, update.definitionHash],
  };
  const description = 'must equal the stored one: the definition of a report never changes';
  return Object.entries(fields).flatMap(([field, [stored, given]]) =>
    given === undefined || isSame(stored, given) ? [] : [{ field, description }],
  );
}

function isSame(stored: string | Uint8Array | undefined, given: string | Uint8Array): boolean {
  if (typeof stored === 'string' || typeof given === 'string') return stored === given;
  return stored !== undefined && equalBytes(stored, given);
}

/** Returns the updated report. `entries` are all measurements of the report after the update. */
export function updateReport(
  before: ReportRecord,
  { title = before.title, sealedAnswer = before.sealedAnswer }: ReportUpdate,
  entries: Entry[],
  now: Timestamp,
): ReportRecord {
  return {
    ...before,
    ...{ title, sealedAnswer, measurementCount: entries.length, ...progressOf(entries) },
    revision: before.revision + 1,
    ...nextVersion(before, now),
  };
}

/** Derives the report's state again. Creates a new version only if the state changes. */
export function settleReport({ report, entries }: ReportWithEntries): ReportRecord {
  const progress = progressOf(entries);
  const version = progress.state === report.state ? report.version : report.version + 1;
  return { ...report, ...progress, version };
}

/**
 * Removes the content, but keeps the row. Without the row, a new report could get the same ID, and its versions would
 * start at 1 again.
 */
export function deleteReport(before: ReportRecord, now: Timestamp): ReportRecord {
  return {
    ...before,
    ...{ title: undefined, definition: undefined, sealedDefinition: undefined, definitionHash: undefined },
    ...{ sealedAnswer: undefined, measurementCount: 0, state: 'DELETED', waitingFor: undefined },
    ...nextVersion(before, now),
  };
}
