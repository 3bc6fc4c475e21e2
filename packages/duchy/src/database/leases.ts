/** Who works on which stage. A lease ends by itself; its token tells whether a mill still holds it. */
import { cut } from '@measurement-exchange/contract';
import { COMPUTATION_COLUMNS, computationOf, type StoredComputation } from './computations.ts';
import { type Queryable, sql } from './db.ts';

export interface Claim {
  computation: StoredComputation;
  token: string;
  leaseMs: number;
}

/** Another mill holds the stage now, or the computation has ended: what was computed must not be stored. */
export class LeaseLost extends Error {
  constructor(id: string) {
    super(`The lease of computation ${id} is lost.`);
    this.name = 'LeaseLost';
  }
}

const UNTIL = (parameter: string) => `clock_timestamp() + ${parameter} * interval '1 millisecond'`;
/** Whoever is due at once queues up behind those that are due. */
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
 * A stage that is due and that nobody holds: of the consumer whose last turn is the longest ago, so that many computations
 * of one consumer do not hold up those of another, and of this consumer the one that is due for the longest time.
 */
export async function claimStage(
  db: Queryable,
  { owner, leaseMs }: { owner: string; leaseMs: number },
): Promise<Claim | undefined> {
  const [row] = await db.query(CLAIM, [owner, leaseMs]);
  return row && { computation: computationOf(row), token: row.lease_token, leaseMs };
}

const RENEW = sql(
  'renewLease',
  `UPDATE computations SET lease_until = ${UNTIL('$3')} WHERE id = $1 AND lease_token = $2 RETURNING id`,
);

/** False when it is lost: stop working. */
export async function renewLease(db: Queryable, { computation, token, leaseMs }: Claim): Promise<boolean> {
  return (await db.query(RENEW, [computation.id, token, leaseMs])).length === 1;
}

const FINISH = sql(
  'finishStage',
  `UPDATE computations SET stage = $3, run_after = ${NOT_BEFORE_NOW('$4')}, attempt = 0, last_error = NULL, ${RELEASED}
   WHERE id = $1 AND lease_token = $2 RETURNING id`,
);

export interface NextStage {
  stage: string;
  /** Null: it waits for something from outside. */
  runAfter: Date | null;
}

/** In the transaction that stores what the stage made; throws LeaseLost, which undoes that. */
export async function finishStage(
  tx: Queryable,
  { computation, token }: Claim,
  next: NextStage,
): Promise<void> {
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
  /** False where it was not the stage that failed: the attempt is not counted. */
  counts?: boolean;
}

/** Gives the stage back, to be taken again after the delay; false when the lease is lost. */
export async function retryStage(
  db: Queryable,
  { computation, token }: Claim,
  retry: Retry,
): Promise<boolean> {
  const { delayMs, error, counts = true } = retry;
  const values = [computation.id, token, delayMs, cut(error, 2000), counts ? 0 : 1];
  return (await db.query(RETRY, values)).length === 1;
}

const WAKE = sql(
  'wakeStage',
  `UPDATE computations SET stage = $3, run_after = clock_timestamp(), attempt = 0, last_error = NULL
   WHERE id = $1 AND stage = $2 AND run_after IS NULL AND outcome IS NULL RETURNING id`,
);

/** Moves a computation on that waits in `fromStage`; false where it does not. */
export async function wake(db: Queryable, id: string, fromStage: string, toStage: string): Promise<boolean> {
  return (await db.query(WAKE, [id, fromStage, toStage])).length === 1;
}
