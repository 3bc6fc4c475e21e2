/** A measurement consumer: creates measurements, waits for them, opens their results, and reads event groups. */
export { DEVELOPMENT_BUDGET } from '@measurement-exchange/mpc/charges';
export { asCreated, type CallOptions, type Consumer, createConsumer, type OpenOptions } from './consumer.ts';
export type { DeduplicatedFigures } from './deduplicated.ts';
export type { ConsumerOptions } from './deps.ts';
export * from './errors.ts';
export {
  EVENT_GROUP_METADATA_TYPE_URL,
  type PackedMetadata,
  packEventGroupMetadata,
  unpackEventGroupMetadata,
} from './eventGroupMetadata.ts';
export type { DescribedEventGroup, DescribedMetadata, EventGroupFilters } from './eventGroups.ts';
export type { ExpectedFigure, ExpectedName } from './expected.ts';
export type { Figures, FrequencyEstimate } from './figures.ts';
export type { MeasurementResult } from './open.ts';
export { findResultKeyset } from './own.ts';
export type { MeasurementPlan, PlannedCharge, PlanOptions } from './plan.ts';
export { type DuchyProtocol, duchyProtocolOf, type ProtocolFault } from './protocol.ts';
export type { MeasurementProgress, ReportProgress } from './reports/asking.ts';
export type { FigureDifference } from './reports/differences.ts';
export type { NeedState } from './reports/outcomes.ts';
export type { PlannedReport, ReportAnswer, ReportCheck, Reports, RunOptions } from './reports/reports.ts';
export { type ReportFault, ReportRejected } from './reports/sealed.ts';
export type { StoredReport, UnreadableReport } from './reports/stored.ts';
export * from './request.ts';
export type { ReachBounds, Total } from './total.ts';
export { verifyMeasurement } from './verifyMeasurement.ts';
export type { DuchyReport, Progress, WaitOptions } from './wait.ts';
