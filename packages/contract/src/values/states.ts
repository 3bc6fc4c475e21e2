/** The API's enumerations: states, reasons, and types. */

export const PENDING_MEASUREMENT_STATES = ['AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING'] as const;
/** The final states: a measurement in one of these states never changes its state. */
export const TERMINAL_MEASUREMENT_STATES = ['SUCCEEDED', 'FAILED', 'CANCELLED'] as const;
export const MEASUREMENT_STATES = [...PENDING_MEASUREMENT_STATES, ...TERMINAL_MEASUREMENT_STATES] as const;
export type MeasurementState = (typeof MEASUREMENT_STATES)[number];

/** The final states: a requisition in one of these states never changes its state. */
export const TERMINAL_REQUISITION_STATES = ['FULFILLED', 'REFUSED', 'WITHDRAWN'] as const;
export const REQUISITION_STATES = ['UNFULFILLED', ...TERMINAL_REQUISITION_STATES] as const;
export type RequisitionState = (typeof REQUISITION_STATES)[number];

export function isTerminal(state: MeasurementState | RequisitionState): boolean {
  return TERMINAL_STATES.has(state);
}
const TERMINAL_STATES: ReadonlySet<string> = new Set([
  ...TERMINAL_MEASUREMENT_STATES,
  ...TERMINAL_REQUISITION_STATES,
]);

export const REFUSAL_JUSTIFICATIONS = [
  'CONSENT_SIGNAL_INVALID',
  'SPEC_INVALID',
  'INSUFFICIENT_PRIVACY_BUDGET',
  'UNFULFILLABLE',
  'DECLINED',
] as const;
export type RefusalJustification = (typeof REFUSAL_JUSTIFICATIONS)[number];

export const FAILURE_REASONS = [
  'CERTIFICATE_REVOKED',
  'REQUISITION_REFUSED',
  'COMPUTATION_PARTICIPANT_FAILED',
] as const;
export type FailureReason = (typeof FAILURE_REASONS)[number];

export const MEASUREMENT_TYPES = [
  'REACH',
  'REACH_AND_FREQUENCY',
  'IMPRESSION',
  'DURATION',
  'POPULATION',
] as const;
export type MeasurementType = (typeof MEASUREMENT_TYPES)[number];

export const PROTOCOLS = [
  'direct',
  'liquidLegionsV2',
  'reachOnlyLiquidLegionsV2',
  'honestMajorityShareShuffle',
] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/**
 * The capabilities that a data provider can declare, and `direct`, which needs no declaration. Some of them are
 * protocols, from which the exchange chooses a measurement's protocol. The exchange only displays the others.
 */
export const CAPABILITIES = [
  ...PROTOCOLS,
  'trusTee',
  'noiseMechanismNone',
  'noiseMechanismDeterministicTruncatedLaplace',
] as const;
export type Capability = (typeof CAPABILITIES)[number];

export const PENDING_COMPUTATION_STATES = [
  'PENDING_PARAMS',
  'PENDING_FULFILLMENT',
  'PENDING_CONFIRMATION',
  'COMPUTING',
] as const;
/** The states of a computation, which is a measurement as its duchies see it. */
export const COMPUTATION_STATES = [...PENDING_COMPUTATION_STATES, ...TERMINAL_MEASUREMENT_STATES] as const;
export type ComputationState = (typeof COMPUTATION_STATES)[number];

/**
 * The roles of duchies. The share shuffle protocol has a first and a second worker. The Liquid Legions protocols have
 * any number of workers. Each protocol has one aggregator.
 */
export const DUCHY_ROLES = ['FIRST_WORKER', 'SECOND_WORKER', 'WORKER', 'AGGREGATOR'] as const;
export type DuchyRole = (typeof DUCHY_ROLES)[number];

/** The kinds of noise that duchies add to their results. */
export const MPC_NOISE_MECHANISMS = ['NONE', 'GEOMETRIC', 'DISCRETE_GAUSSIAN'] as const;
export type MpcNoiseMechanism = (typeof MPC_NOISE_MECHANISMS)[number];

/**
 * PLANNED: the report has no measurements. RUNNING: a measurement is pending. COMPLETE: all measurements succeeded.
 * INCOMPLETE: all other cases.
 */
export const REPORT_STATES = ['PLANNED', 'RUNNING', 'COMPLETE', 'INCOMPLETE'] as const;
export type ReportState = (typeof REPORT_STATES)[number];

export const REVOCATION_STATES = ['HOLD', 'REVOKED'] as const;
export type RevocationState = (typeof REVOCATION_STATES)[number];
