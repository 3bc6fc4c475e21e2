/**
 * The SDK for data providers, for Node only: verifies requisitions, computes results or shares, and tracks the budget.
 */

export { daysOf, type PrivacyAmount, type Units } from '@measurement-exchange/mpc/charges';
export { FilterError } from '../filters/errors.ts';
export { RefusalError, type RefusalPlace } from '../refusals/refusalError.ts';
export type { AgentEvent, AgentStage } from './agent/logEvents.ts';
export type { Agent, AgentOptions, RequisitionSpan } from './agent/options.ts';
export * from './agent.ts';
export * from './compute.ts';
export { queryOf } from './eventQuery.ts';
export * from './events.ts';
export { QueryStopped } from './filter/errors.ts';
export { fulfillOrRefuse, refusalFor, sealResult } from './fulfill.ts';
export type { AgentCounts, AgentStatus, OpenRequisition, Retry } from './ledger/agentStatus.ts';
export { type Charge, InsufficientBudget } from './ledger/charges.ts';
export type { ConfirmedReference, HeldQuestion, HeldQuestions } from './ledger/inventory.ts';
export {
  type LedgerReader,
  type ResponseCounts,
  readLedger,
  type Spending,
  type StoredResponse,
} from './ledger/reading.ts';
export type { RejectedUpload, Rejection, Rejections } from './ledger/rejections.ts';
export type {
  BudgetReport,
  ConsumerSpending,
  MeasurementSpending,
  SpendingRange,
} from './ledger/report.ts';
export type { DirectResponse, RequisitionResponse, Upload } from './ledger/responses.ts';
export * from './ledger.ts';
export * from './population.ts';
export * from './publishAttributes.ts';
export {
  type ComputationSettings,
  createDuchyTrust,
  type DuchySettings,
  type DuchyTrust,
  type LiquidLegionsSettings,
  type ShareShuffleSettings,
} from './verify/duchySettings.ts';
export { LIMITS } from './verify/limits.ts';
export type { LiquidLegionsContext, VerifiedLiquidLegions } from './verify/liquidLegions.ts';
export {
  decodeRequisitionSpec,
  type PlainInterval,
  type PlainRequisitionSpec,
} from './verify/requisitionSpec.ts';
export type {
  ReferenceAccess,
  References,
  SelectedEvents,
  Selection,
  SelectionContext,
} from './verify/selection.ts';
export { awaitsDuchies, type ShareShuffleContext, type VerifiedShareShuffle } from './verify/shareShuffle.ts';
export * from './verify.ts';
export { verifyRequisitionSteps } from './verifySteps.ts';
