export { Secrets } from '@measurement-exchange/server';
export * from './blobs.ts';
export {
  blobSecrets,
  type ComputationSecrets,
  computationOfRequisition,
  countPending,
  createComputation,
  endComputation,
  hasMovingRing,
  keepInterim,
  type NewComputation,
  OUTCOMES,
  type Outcome,
  pendingComputations,
  readComputation,
  readSecrets,
  type StoredComputation,
  updateView,
} from './computations.ts';
export {
  Database,
  type DatabaseOptions,
  type Queryable,
  type Row,
  type SealingQueryable,
  type Statement,
} from './db.ts';
export { durabilityProblems } from './durability.ts';
export * from './leases.ts';
export * from './messages.ts';
export { migrate } from './migrate.ts';
export { removeBlobs, removeComputations } from './retention.ts';
export { requireOwnDatabase } from './settings.ts';
export * from './uploads.ts';
