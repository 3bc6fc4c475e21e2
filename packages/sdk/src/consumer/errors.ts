/** Errors of a consumer, besides those of the exchange (`ExchangeError`). */

import type { ConsentErrorCode } from '@measurement-exchange/consent';
import {
  cut,
  type FailureReason,
  type Measurement,
  type RefusalJustification,
} from '@measurement-exchange/contract';
import { Fault } from '../verification/fault.ts';
import type { ProtocolFault } from './protocol.ts';

/** Why a data provider is not trusted: an error of its certificate, signature or keyset, or one of these. */
export type DataProviderFault =
  | ConsentErrorCode
  | 'CERTIFICATE_MISSING'
  | 'CERTIFICATE_REVOKED'
  | 'PUBLIC_KEY_MISSING';

/** The key of a data provider is not trusted, and no measurement was created. */
export class DataProviderUntrusted extends Fault<DataProviderFault> {
  override readonly name = 'DataProviderUntrusted';
  readonly dataProvider: string;

  constructor(dataProvider: string, code: DataProviderFault, message: string, cause?: unknown) {
    super(code, `${dataProvider} cannot be asked: ${message}`, { cause });
    this.dataProvider = dataProvider;
  }
}

/**
 * The exchange has others compute the measurement than this consumer accepts. It was created, and continues: cancel it, or
 * accept these duchies and wait for it.
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

/** The data provider that refused, and why. */
export interface RefusedBy {
  dataProvider: string;
  justification: RefusalJustification;
  message: string;
}

/** A measurement that ended without a result, for good. */
export class MeasurementFailed extends Error {
  readonly measurement: Measurement;
  readonly reason: FailureReason | 'CANCELLED';
  /** For REQUISITION_REFUSED: the data provider that refused. */
  readonly refusedBy: RefusedBy | undefined;

  constructor(measurement: Measurement, refusedBy?: RefusedBy) {
    const reason = measurement.failure?.reason ?? 'CANCELLED';
    const why = refusedBy
      ? `${refusedBy.dataProvider} refused: ${refusedBy.justification} ${refusedBy.message}`.trimEnd()
      : (measurement.failure?.message ?? 'it was cancelled');
    super(`${measurement.name} has no result (${reason}): ${why}`);
    this.name = 'MeasurementFailed';
    this.measurement = measurement;
    this.reason = reason;
    this.refusedBy = refusedBy;
  }
}

/** `wait` timed out. The measurement continues: wait again, or cancel it. */
export class WaitTimedOut extends Error {
  /** As last read. */
  readonly measurement: Measurement;

  constructor(measurement: Measurement, timeoutMs: number) {
    super(
      `${measurement.name} is still ${measurement.state} after ${timeoutMs} ms: wait again, or cancel it.`,
    );
    this.name = 'WaitTimedOut';
    this.measurement = measurement;
  }
}

/** Why a result was rejected: an error of its encryption, signature or certificate, or one of these. */
export type ResultFault =
  | ConsentErrorCode
  | ProtocolFault
  /** No result exists: the measurement has not succeeded, or its content was removed. */
  | 'RESULT_ABSENT'
  /** The measurement's own spec cannot be read. */
  | 'SPEC_MALFORMED'
  /** The spec is not one that this consumer made, or what it asks for was changed. */
  | 'SPEC_FOREIGN'
  /** The data providers of the measurement are not exactly those that were asked. */
  | 'NONCES_MISMATCH'
  /** The measurement was made from another request than the one given. */
  | 'REQUEST_MISMATCH'
  /** The certificate belongs to nobody who computes the measurement: to no data provider, or not to the aggregator. */
  | 'SIGNER_FOREIGN'
  /** Two results of one data provider, or of the aggregator. */
  | 'SIGNER_REPEATED'
  /** A data provider, or the aggregator, has no result in it. */
  | 'SIGNER_MISSING'
  | 'CERTIFICATE_MISSING'
  | 'CERTIFICATE_REVOKED'
  /** The signed bytes are not a valid Measurement.Result. */
  | 'RESULT_MALFORMED'
  /** The result of another kind of measurement. */
  | 'RESULT_TYPE_MISMATCH';

/** A result that failed verification, and is not returned. */
export class ResultRejected extends Fault<ResultFault> {
  override readonly name = 'ResultRejected';
  readonly measurement: string;
  /** The data provider or duchy whose result is at fault, if one is. */
  readonly signer: string | undefined;

  constructor(measurement: string, code: ResultFault, message: string, signer?: string, cause?: unknown) {
    super(code, `${measurement}: ${signer === undefined ? '' : `result of ${signer}: `}${message}`, {
      cause,
    });
    this.measurement = measurement;
    this.signer = signer;
  }
}

const MAX_MESSAGE = 1000;

/** Why the metadata of an event group cannot be read. */
export type MetadataFault =
  | ConsentErrorCode
  | 'DESCRIPTOR_NOT_FOUND'
  | 'DESCRIPTOR_UNAVAILABLE'
  | 'DESCRIPTOR_MALFORMED'
  | 'TYPE_UNKNOWN'
  /** It is small as bytes, and beyond what one event group may print as JSON. */
  | 'METADATA_TOO_LARGE'
  | 'METADATA_MALFORMED';

/** The metadata of an event group cannot be read; the event group itself is fine. */
export class MetadataUnreadable extends Fault<MetadataFault> {
  override readonly name = 'MetadataUnreadable';
  readonly eventGroup: string;

  constructor(eventGroup: string, code: MetadataFault, message: string, cause?: unknown) {
    // Names of types and fields are of the provider's making, and may be as long as its descriptor.
    super(code, cut(`${eventGroup}: ${message}`, MAX_MESSAGE), { cause });
    this.eventGroup = eventGroup;
  }
}
