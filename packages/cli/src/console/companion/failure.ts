/** Converts any error to a CompanionFailure, which has a status, a reason, and a human-readable message. */
import type {
  CompanionErrorBody,
  ExchangeDetails,
  FilterDetails,
} from '@measurement-exchange/console/companion';
import { ExchangeError } from '@measurement-exchange/contract';
import { DefinitionError, PlanError } from '@measurement-exchange/reports';
import {
  DataProviderUntrusted,
  FilterRejected,
  MeasurementFailed,
  MetadataUnreadable,
  ProtocolRejected,
  QuestionRejected,
  type RejectedFilter,
  ReportRejected,
  ResultRejected,
  UnexpectedResponse,
  Unreachable,
} from '@measurement-exchange/sdk';
import { UnknownChoice } from '../../party/described.ts';
import { explain } from '../../terminal/output.ts';

/** An error of the companion. Its JSON form is the body of the response. */
export class CompanionFailure extends Error {
  override readonly name = 'CompanionFailure';
  readonly status: number;
  readonly reason: string;
  readonly details: unknown;

  constructor(status: number, reason: string, message: string, details?: unknown, cause?: unknown) {
    super(message, { cause });
    this.status = status;
    this.reason = reason;
    this.details = details;
  }

  toJSON(): CompanionErrorBody {
    const { reason, message, details } = this;
    return { reason, message, ...(details !== undefined && { details }) };
  }
}

export function failureOf(error: unknown): CompanionFailure {
  if (error instanceof CompanionFailure) return error;
  const failure = (status: number, reason: string, message: string, details?: unknown) =>
    new CompanionFailure(status, reason, message, details, error);
  if (error instanceof ExchangeError) {
    return failure(error.httpStatus, error.reason, error.message, exchangeDetails(error));
  }
  if (error instanceof FilterRejected) {
    return failure(400, 'FILTER_REJECTED', filterSentence(error), filterDetails(error));
  }
  if (error instanceof UnknownChoice) {
    return failure(404, 'EVENT_GROUP_UNKNOWN', error.message.replaceAll('\n  ', ' '));
  }
  if (error instanceof Unreachable) return failure(503, 'EXCHANGE_UNREACHABLE', error.message);
  if (error instanceof UnexpectedResponse) return failure(502, 'UNEXPECTED_RESPONSE', error.message);
  return faultOf(error, failure) ?? failure(500, 'COMPANION_FAILED', explain(error));
}

type Make = (status: number, reason: string, message: string, details?: unknown) => CompanionFailure;

/** Converts an SDK error, such as a rejected result or a failed measurement. Returns undefined for other errors. */
function faultOf(error: unknown, failure: Make): CompanionFailure | undefined {
  if (error instanceof DataProviderUntrusted) {
    const { code, dataProvider } = error;
    const advice = `Nothing was created. Trust its root once you have it from ${dataProvider} itself, or measure without it.`;
    return failure(400, code, `${sentence(error.message)} ${advice}`, { dataProvider });
  }
  if (error instanceof ProtocolRejected) {
    const { code, message, measurement } = error;
    const advice = 'Cancel it, or accept these duchies with their roots.';
    return failure(409, code, `${sentence(message)} ${advice}`, { measurement: measurement.name });
  }
  if (error instanceof ResultRejected) {
    const { code, message, measurement, signer } = error;
    return failure(409, code, sentence(message), { measurement, ...(signer && { signer }) });
  }
  if (error instanceof QuestionRejected || error instanceof MetadataUnreadable) {
    return failure(409, error.code, sentence(error.message));
  }
  if (error instanceof DefinitionError) {
    return failure(400, 'DEFINITION_INVALID', error.message, { violations: error.problems });
  }
  if (error instanceof PlanError) return failure(400, 'PLAN_IMPOSSIBLE', error.message);
  if (error instanceof ReportRejected) return failure(409, error.code, sentence(error.message));
  if (error instanceof MeasurementFailed) {
    const { reason, message, refusedBy } = error;
    return failure(409, reason, sentence(message), refusedBy && { refusedBy });
  }
  return undefined;
}

function exchangeDetails({
  violations,
  metadata,
  requestId,
  retryAfterSeconds,
}: ExchangeError): ExchangeDetails {
  return {
    violations,
    metadata,
    ...(requestId !== undefined && { requestId }),
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

const filterDetails = ({ filters }: FilterRejected): FilterDetails => ({
  filters: filters.map((filter) => ({ ...filter })),
});

/**
 * Joins the problems of all filters. Each problem is stated only once, because several event groups usually have the
 * same filter.
 */
function filterSentence({ filters }: FilterRejected): string {
  return [...new Set(filters.map(problemText))].join(' ');
}

function problemText({ message, position, suggestion }: RejectedFilter): string {
  const at = position ? ` (line ${position.line}, column ${position.column})` : '';
  const meant = suggestion ? ` Did you mean ${suggestion}?` : '';
  return `The filter cannot be used: ${sentence(`${message}${at}`)}${meant}`;
}

const sentence = (text: string) => (/[.!?]$/.test(text) ? text : `${text}.`);
