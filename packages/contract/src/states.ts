/** States and the closed lists that explain them, in the words of the specification. */

export const MEASUREMENT_STATES = [
  'AWAITING_REQUISITION_FULFILLMENT',
  'COMPUTING',
  'SUCCEEDED',
  'FAILED',
  'CANCELLED',
] as const;
export type MeasurementState = (typeof MEASUREMENT_STATES)[number];

export const REQUISITION_STATES = ['UNFULFILLED', 'FULFILLED', 'REFUSED', 'WITHDRAWN'] as const;
export type RequisitionState = (typeof REQUISITION_STATES)[number];

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

export const REVOCATION_STATES = ['HOLD', 'REVOKED'] as const;
export type RevocationState = (typeof REVOCATION_STATES)[number];

export function isTerminal(state: MeasurementState): boolean {
  return state === 'SUCCEEDED' || state === 'FAILED' || state === 'CANCELLED';
}
