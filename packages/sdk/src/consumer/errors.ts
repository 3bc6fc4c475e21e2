/** Errors that the consumer throws, in addition to those that the exchange returns (`ExchangeError`). */
import type { ConsentErrorCode } from '@measurement-exchange/consent';
import {
  cut,
  type FailureReason,
  type Measurement,
  type RefusalJustification,
} from '@measurement-exchange/contract';
import type { FilterProblem } from '../filters/index.ts';
import { Fault } from '../verification/fault.ts';
import type { ProtocolFault } from './protocol.ts';

/**
 * The reason that a data provider is not trusted. A ConsentErrorCode is an error in its certificate, signature, or
 * keyset.
 */
export type DataProviderFault =
  | ConsentErrorCode
  | 'CERTIFICATE_MISSING'
  | 'CERTIFICATE_REVOKED'
  | 'PUBLIC_KEY_MISSING';

/** A data provider's key is not trusted. No measurement was created. */
export class DataProviderUntrusted extends Fault<DataProviderFault> {
  override readonly name = 'DataProviderUntrusted';
  readonly dataProvider: string;

  constructor(dataProvider: string, code: DataProviderFault, message: string, cause?: unknown) {
    super(code, `${dataProvider} cannot be asked: ${message}`, { cause });
    this.dataProvider = dataProvider;
  }
}

/**
 * This consumer does not accept the protocol or the duchies that the exchange chose for the measurement. The
 * measurement was created and is still running: cancel it, or accept the duchies and wait for it.
 */
export class ProtocolRejected extends Fault<ProtocolFault> {
  override readonly name = 'ProtocolRejected';
  readonly measurement: Measurement;

  constructor(measurement: Measurement, code: ProtocolFault, message: string, cause?: unknown) {
    super(code, `${measurement.name} was created, and its result will not be accepted: ${message}`, {
      cause,
    });
    this.measurement = measurement;
  }
}

/** A filter that cannot be used, and the reason. */
export interface RejectedFilter extends FilterProblem {
  dataProvider: string;
  /** Absent if the filter selects people of the population, not events of an event group. */
  eventGroup?: string;
  filter: string;
}

/**
 * Some filters are not valid CEL, or do not match the attributes that their event groups publish. Nothing was created.
 */
export class FilterRejected extends Error {
  override readonly name = 'FilterRejected';
  readonly filters: readonly RejectedFilter[];

  constructor(filters: readonly RejectedFilter[]) {
    super(filters.map(describeFilter).join('\n'));
    this.filters = filters;
  }
}

function describeFilter(rejected: RejectedFilter): string {
  const { dataProvider, eventGroup, message, position, suggestion } = rejected;
  const at = position ? ` (line ${position.line}, column ${position.column})` : '';
  const meant = suggestion ? `. Did you mean ${suggestion}?` : '';
  return `The filter of ${eventGroup ?? `the population of ${dataProvider}`} cannot be used: ${message}${at}${meant}`;
}

/** The data provider that refused its requisition, and the reason. */
export interface RefusedBy {
  dataProvider: string;
  justification: RefusalJustification;
  message: string;
}

/** The measurement ended without a result. This is final. */
export class MeasurementFailed extends Error {
  readonly measurement: Measurement;
  /** `REMOVED` if the measurement failed, and retention has removed the reason. */
  readonly reason: FailureReason | 'CANCELLED' | 'REMOVED';
  /** The data provider that refused, if the failure's reason is REQUISITION_REFUSED. */
  readonly refusedBy: RefusedBy | undefined;

  constructor(measurement: Measurement, refusedBy?: RefusedBy) {
    const reason =
      measurement.failure?.reason ?? (measurement.state === 'CANCELLED' ? 'CANCELLED' : 'REMOVED');
    const why = refusedBy
      ? `${refusedBy.dataProvider} refused: ${refusedBy.justification} ${refusedBy.message}`.trimEnd()
      : (measurement.failure?.message ??
        (reason === 'CANCELLED' ? 'it was cancelled' : 'its content was removed'));
    super(`${measurement.name} has no result (${reason}): ${why}`);
    this.name = 'MeasurementFailed';
    this.measurement = measurement;
    this.reason = reason;
    this.refusedBy = refusedBy;
  }
}

/** `wait` timed out. The measurement is still running: wait again, or cancel it. */
export class WaitTimedOut extends Error {
  readonly measurement: Measurement;

  constructor(measurement: Measurement, timeoutMs: number) {
    super(
      `${measurement.name} is still ${measurement.state} after ${timeoutMs} ms: wait again, or cancel it.`,
    );
    this.name = 'WaitTimedOut';
    this.measurement = measurement;
  }
}

/**
 * The reason that a result was rejected. A ConsentErrorCode is an error in its encryption, signature, or certificate.
 */
export type ResultFault =
  | ConsentErrorCode
  | ProtocolFault
  /** There is no result: the measurement has not succeeded, or its content was removed. */
  | 'RESULT_ABSENT'
  | 'SPEC_MALFORMED'
  /** This consumer did not create the spec, or someone changed it. */
  | 'SPEC_FOREIGN'
  /** The nonce hashes in the spec are not exactly the nonce hashes of the measurement's data providers. */
  | 'NONCES_MISMATCH'
  /** The measurement was created from a different request than the given one. */
  | 'REQUEST_MISMATCH'
  /** The owner of a result's certificate is neither a data provider of the measurement nor the aggregator. */
  | 'SIGNER_FOREIGN'
  /** A data provider or the aggregator has two results. */
  | 'SIGNER_REPEATED'
  /** A data provider or the aggregator has no result. */
  | 'SIGNER_MISSING'
  | 'CERTIFICATE_MISSING'
  | 'CERTIFICATE_REVOKED'
  /** The signed bytes are not a valid Measurement.Result. */
  | 'RESULT_MALFORMED'
  | 'RESULT_TYPE_MISMATCH';

/** The result failed verification and is not returned. */
export class ResultRejected extends Fault<ResultFault> {
  override readonly name = 'ResultRejected';
  readonly measurement: string;
  /** The data provider or duchy whose result is at fault, or undefined if the measurement itself is at fault. */
  readonly signer: string | undefined;

  constructor(measurement: string, code: ResultFault, message: string, signer?: string, cause?: unknown) {
    super(code, `${measurement}: ${signer === undefined ? '' : `result of ${signer}: `}${message}`, {
      cause,
    });
    this.measurement = measurement;
    this.signer = signer;
  }
}

/**
 * The reason that a measurement's question (the request stored with the measurement) was rejected. A ConsentErrorCode
 * is an error in the question's encryption, signature, or certificate.
 */
export type QuestionFault =
  | ConsentErrorCode
  | 'SPEC_MALFORMED'
  | 'SPEC_FOREIGN'
  | 'NONCES_MISMATCH'
  | 'CERTIFICATE_MISSING'
  /** This consumer did not sign the question. */
  | 'QUESTION_FOREIGN'
  /** This consumer signed the question for another measurement. */
  | 'QUESTION_OF_ANOTHER'
  | 'QUESTION_MALFORMED';

/** The question stored with a measurement failed verification and is not returned. See `Consumer.question`. */
export class QuestionRejected extends Fault<QuestionFault> {
  override readonly name = 'QuestionRejected';
  readonly measurement: string;

  constructor(measurement: string, code: QuestionFault, message: string, cause?: unknown) {
    super(code, `${measurement}: its question: ${message}`, { cause });
    this.measurement = measurement;
  }
}

const MAX_MESSAGE = 1000;

/** The reason that an event group's metadata cannot be read. */
export type MetadataFault =
  | ConsentErrorCode
  | 'DESCRIPTOR_NOT_FOUND'
  | 'DESCRIPTOR_UNAVAILABLE'
  | 'DESCRIPTOR_MALFORMED'
  | 'TYPE_UNKNOWN'
  /** The metadata exceeds the limits on its JSON form. See printedBounds.ts. */
  | 'METADATA_TOO_LARGE'
  | 'METADATA_MALFORMED';

/** An event group's metadata cannot be read, but the event group itself is valid. */
export class MetadataUnreadable extends Fault<MetadataFault> {
  override readonly name = 'MetadataUnreadable';
  readonly eventGroup: string;

  constructor(eventGroup: string, code: MetadataFault, message: string, cause?: unknown) {
    // Truncate the message, because it may contain type and field names that are as long as the provider's whole
    // descriptor.
    super(code, cut(`${eventGroup}: ${message}`, MAX_MESSAGE), { cause });
    this.eventGroup = eventGroup;
  }
}
