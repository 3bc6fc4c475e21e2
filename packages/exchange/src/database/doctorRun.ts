/** Stores the exchange's last run of the doctor. A lease ensures that only one replica runs the doctor at a time. */
import type { DoctorFinding, Timestamp } from '@measurement-exchange/contract';
import { cell, object } from '@measurement-exchange/server/database';
import { inTransaction, read } from './run.ts';

export interface DoctorRun {
  /** The number of runs requested so far. The audit log uses this number as the version of `doctor`. */
  requests: number;
  isRunning: boolean;
  startTime: Timestamp | null;
  /** The end of the last finished run. The members below describe that run. */
  endTime: Timestamp | null;
  checks: number | null;
  findings: DoctorFinding[];
  failure: string | null;
}

const SELECT = `SELECT requests, coalesce(lease_expiry > now(), false) AS is_running, start_time, end_time, checks,
  findings, failure FROM doctor_run`;
const run = object<DoctorRun>({
  requests: cell('requests'),
  isRunning: cell('is_running'),
  startTime: cell('start_time'),
  endTime: cell('end_time'),
  checks: cell('checks'),
  findings: cell('findings'),
  failure: cell('failure'),
});

export const getDoctorRun = read.one(() => [], 'doctor_run_get', SELECT, run);
export const lockDoctorRun = inTransaction.one(
  () => [],
  'doctor_run_lock',
  `${SELECT} FOR NO KEY UPDATE`,
  run,
);

const LEASED = `lease_expiry = now() + $2::int * interval '1 millisecond'`;

/** Stores the start of a run, and the number of runs requested so far. The caller must call `lockDoctorRun` first. */
export const startDoctorRun = inTransaction.last(
  (requests: number, now: Timestamp, leaseMs: number) => [now, leaseMs, requests],
  'doctor_run_start',
  `UPDATE doctor_run SET start_time = $1, ${LEASED}, requests = $3`,
);

/** Stores the start of a run. If a run is in progress or began after `since`, stores nothing and returns false. */
export const claimDoctorRun = read.exists(
  (since: Timestamp, now: Timestamp, leaseMs: number) => [now, leaseMs, since],
  'doctor_run_claim',
  `UPDATE doctor_run SET start_time = $1, ${LEASED}
    WHERE coalesce(start_time, create_time) <= $3 AND coalesce(lease_expiry <= now(), true) RETURNING 1`,
);

/** Stores the outcome of the run that began at `startTime`. Does nothing if another run has begun since. */
export const endDoctorRun = read.done(
  (
    startTime: Timestamp,
    now: Timestamp,
    ended: { checks: number; findings: DoctorFinding[] } | { failure: string },
  ) => [
    ...[startTime, now],
    ...('failure' in ended
      ? [null, '[]', ended.failure]
      : [ended.checks, JSON.stringify(ended.findings), null]),
  ],
  'doctor_run_end',
  `UPDATE doctor_run SET end_time = $2, checks = $3, findings = $4, failure = $5, lease_expiry = NULL
    WHERE start_time = $1`,
);
