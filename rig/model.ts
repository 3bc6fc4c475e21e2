/**
 * A model of a measurement's behavior, written from the contract and not from the code: its states, and the response to
 * every operation. The model is pure. The sequential harness compares each response with the model. The checker
 * searches for an order in which concurrent responses agree with the model.
 */

export type MeasurementState = 'AWAITING_REQUISITION_FULFILLMENT' | 'SUCCEEDED' | 'FAILED' | 'CANCELLED';
export type RequisitionState = 'UNFULFILLED' | 'FULFILLED' | 'REFUSED' | 'WITHDRAWN';

/** A measurement with direct results. The requisitions are identified by their position. */
export interface State {
  measurement: MeasurementState;
  requisitions: readonly RequisitionState[];
}

/**
 * Version 1 is the etag at creation, version 2 the etag after the only change. Version 0 is an etag that never existed.
 */
export type EtagVersion = 0 | 1 | 2;

/** Only gRPC accepts an empty etag, which means the current version. */
export type SentEtag = EtagVersion | 'empty';

/** The API that a request uses. Both APIs show the same resources, so most responses are equal. */
export type Face = 'rest' | 'grpc';

/** The input uses REST unless `face` is set. */
export type Input = { face?: Face } & (
  | { kind: 'getMeasurement' }
  | { kind: 'listRequisitions' }
  | { kind: 'getRequisition'; i: number }
  | {
      kind: 'fulfill';
      i: number;
      etag: SentEtag;
      nonce: 'right' | 'wrong';
      certificate: 'own' | 'foreign';
    }
  | { kind: 'refuse'; i: number; etag: SentEtag }
  | { kind: 'cancel' }
);

/** A response in one line: the reason of the error, or the state that the response shows. */
export type Output = string;

export const CREATED: MeasurementState = 'AWAITING_REQUISITION_FULFILLMENT';

export function created(requisitions: number): State {
  return { measurement: CREATED, requisitions: Array(requisitions).fill('UNFULFILLED') };
}

export function versionOf(state: RequisitionState): EtagVersion {
  return state === 'UNFULFILLED' ? 1 : 2;
}

/**
 * `failed` is the position of the requisition whose refusal failed the measurement, or −1. `results` is the number of
 * results.
 */
export function showMeasurement(state: string, failed: number, results: number): Output {
  return `OK ${state} failed by ${failed}, ${results} results`;
}

export function showRequisition(state: string, measurement: string, etag: EtagVersion): Output {
  return `OK ${state} of ${measurement}, etag ${etag}`;
}

export function showRequisitions(states: readonly string[], measurement: string): Output {
  return `OK ${states.join(' ')} of ${measurement}`;
}

/** The gRPC response to a fulfillment contains only the state. */
export function showFulfilled(state: string): Output {
  return `OK ${state}`;
}

export function apply(state: State, input: Input): [State, Output] {
  switch (input.kind) {
    case 'getMeasurement':
      return [state, measurementOf(state)];
    case 'listRequisitions':
      return [state, showRequisitions(state.requisitions, state.measurement)];
    case 'getRequisition':
      return [state, requisitionOf(state, input.i)];
    case 'cancel':
      return state.measurement === CREATED ? cancelled(state) : [state, 'MEASUREMENT_STATE_ILLEGAL'];
    case 'refuse':
      return change(state, input, refused);
    case 'fulfill':
      // The exchange rejects a foreign certificate by its name alone, before it reads the requisition.
      if (input.certificate === 'foreign') return [state, 'INVALID_FIELD_VALUE'];
      return change(state, input, (before, i) => {
        if (input.nonce === 'wrong') return [before, 'NONCE_MISMATCH'];
        const [after, output] = fulfilled(before, i);
        return [after, input.face === 'grpc' ? showFulfilled('FULFILLED') : output];
      });
  }
}

/** The etag is checked before the state, so a stale etag is reported as stale even if the requisition is closed. */
function change(
  state: State,
  { i, etag }: { i: number; etag: SentEtag },
  then: (state: State, i: number) => [State, Output],
): [State, Output] {
  if (etag !== 'empty' && etag !== versionOf(state.requisitions[i]!))
    return [state, 'REQUISITION_ETAG_MISMATCH'];
  if (state.requisitions[i] !== 'UNFULFILLED') return [state, 'REQUISITION_STATE_ILLEGAL'];
  return then(state, i);
}

function fulfilled(before: State, i: number): [State, Output] {
  const requisitions = before.requisitions.with(i, 'FULFILLED');
  const last = requisitions.every((r) => r === 'FULFILLED');
  const after: State = { measurement: last ? 'SUCCEEDED' : before.measurement, requisitions };
  return [after, requisitionOf(after, i)];
}

function refused(before: State, i: number): [State, Output] {
  const after: State = { measurement: 'FAILED', requisitions: withdrawn(before).with(i, 'REFUSED') };
  return [after, requisitionOf(after, i)];
}

function cancelled(before: State): [State, Output] {
  const after: State = { measurement: 'CANCELLED', requisitions: withdrawn(before) };
  return [after, measurementOf(after)];
}

/** The state after a certificate that the measurement depends on was revoked and the cascade has ended. */
export function revoked(before: State): State {
  return before.measurement === CREATED ? { measurement: 'FAILED', requisitions: withdrawn(before) } : before;
}

function withdrawn({ requisitions }: State): RequisitionState[] {
  return requisitions.map((r) => (r === 'UNFULFILLED' ? 'WITHDRAWN' : r));
}

function measurementOf({ measurement, requisitions }: State): Output {
  const results = measurement === 'SUCCEEDED' ? requisitions.length : 0;
  return showMeasurement(measurement, requisitions.indexOf('REFUSED'), results);
}

function requisitionOf({ measurement, requisitions }: State, i: number): Output {
  return showRequisition(requisitions[i]!, measurement, versionOf(requisitions[i]!));
}
