/**
 * Leases on stages. A mill may work on a stage only while it holds the stage's lease, and must renew the lease before
 * it expires. Each lease has a token, which shows whether the mill still holds the lease.
 */
import { cut } from '@measurement-exchange/contract';
import { COMPUTATION_COLUMNS, computationOf, type StoredComputation } from './computations.ts';
import { type Queryable, sql } from './db.ts';

export interface Claim {
  computation: StoredComputation;
  token: string;
  leaseMs: number;
}

/**
 * Thrown if another mill has claimed the stage, or the computation has ended. In both cases, the mill that held the
 * lease must not store its output.
 */
export class LeaseLost extends Error {
  constructor(id: string) {
    super(`The lease of computation ${id} is lost.`);
    this.name = 'LeaseLost';
  }
}

const UNTIL = (parameter: string) => `clock_timestamp() + ${parameter} * interval '1 millisecond'`;
/**
 * Returns SQL that replaces a time in the past with the current time. A new stage therefore runs after the stages of
 * the same consumer that are already due.
 */
const NOT_BEFORE_NOW = (parameter: string) =>
  `CASE WHEN ${parameter}::timestamptz IS NOT NULL THEN greatest(${parameter}, clock_timestamp()) END`;
const RELEASED = 'lease_token = NULL, lease_until = NULL, lease_owner = NULL';

const CLAIM = sql(
  'claimStage',
  `UPDATE computations SET lease_token = gen_random_uuid(), lease_owner = $1, lease_until = ${UNTIL('$2')},
     attempt = attempt + 1, taken_time = clock_timestamp()
   WHERE id = (
     SELECT id FROM computations due
     WHERE run_after <= clock_timestamp() AND (lease_until IS NULL OR lease_until <= clock_timestamp())
     ORDER BY (SELECT max(taken_time) FROM computations WHERE consumer = due.consumer) NULLS FIRST,
       run_after, create_time, id
     LIMIT 1 FOR UPDATE SKIP LOCKED)
   RETURNING ${COMPUTATION_COLUMNS}, lease_token`,
);

/**
 * Claims a stage that is due and not leased. Returns undefined if there is no such stage. Measurement consumers take
 * turns, so that a consumer with many computations does not delay the others.
 */
export async function claimStage(
  db: Queryable,
  { owner, leaseMs }: { owner: string; leaseMs: number },
): Promise<Claim | undefined> {
  const [row] = await db.query(CLAIM, [owner, leaseMs]);
  if (row === undefined) return undefined;
  const { lease_token: token, ...computation } = row;
  return { computation: computationOf(computation), token, leaseMs };
}

const RENEW = sql(
  'renewLease',
  `UPDATE computations SET lease_until = ${UNTIL('$3')} WHERE id = $1 AND lease_token = $2 RETURNING id`,
);

/** Extends the lease. Returns false if the lease is lost and the mill must stop working. */
export async function renewLease(db: Queryable, { computation, token, leaseMs }: Claim): Promise<boolean> {
  return (await db.query(RENEW, [computation.id, token, leaseMs])).length === 1;
}

const FINISH = sql(
  'finishStage',
  `UPDATE computations SET stage = $3, run_after = ${NOT_BEFORE_NOW('$4')}, attempt = 0, last_error = NULL, ${RELEASED}
   WHERE id = $1 AND lease_token = $2 RETURNING id`,
);

interface NextStage {
  stage: string;
  runAfter: Date | null;
}

/** Advances to the next stage and releases the lease. If the lease is lost, throws LeaseLost to roll back `tx`. */
export async function finishStage(tx: Queryable, claim: Claim, next: NextStage): Promise<void> {
  const { computation, token } = claim;
  const rows = await tx.query(FINISH, [computation.id, token, next.stage, next.runAfter]);
  if (rows.length !== 1) throw new LeaseLost(computation.id);
}

const RETRY = sql(
  'retryStage',
  `UPDATE computations SET run_after = ${UNTIL('$3')}, last_error = $4, attempt = attempt - $5, ${RELEASED}
   WHERE id = $1 AND lease_token = $2 RETURNING id`,
);

export interface Retry {
  delayMs: number;
  error: string;
  /**
   * Whether the attempt counts toward the maximum number of attempts. Defaults to true. Pass false if the stage did not
   * fail but must wait.
   */
  counts?: boolean;
}

/** Releases the stage, so that it can be claimed again after the delay. Returns false if the lease is lost. */
export async function retryStage(db: Queryable, claim: Claim, retry: Retry): Promise<boolean> {
  const { delayMs, error, counts = true } = retry;
  const values = [claim.computation.id, claim.token, delayMs, cut(error, 2000), counts ? 0 : 1];
  return (await db.query(RETRY, values)).length === 1;
}

const WAKE = sql(
  'wakeStage',
  `UPDATE computations SET stage = $3, run_after = clock_timestamp(), attempt = 0, last_error = NULL
   WHERE id = $1 AND stage = $2 AND run_after IS NULL AND outcome IS NULL RETURNING id`,
);

export async function wake(db: Queryable, id: string, fromStage: string, toStage: string): Promise<boolean> {
  return (await db.query(WAKE, [id, fromStage, toStage])).length === 1;
}
