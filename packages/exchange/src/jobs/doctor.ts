/** Runs the doctor, which checks the database, in the background: regularly, and when an operator requests it. */
import type { Timestamp } from '@measurement-exchange/contract';
import type pg from 'pg';
import type { Logger } from 'pino';
import type { Database } from '../database/db.ts';
import { claimDoctorRun, endDoctorRun } from '../database/doctorRun.ts';
import { hoursBefore } from '../domain/time.ts';

const MAX_MS = 10 * 60_000;
const FAILURE = 'It was ended before all checks were made; the log of the exchange says why.';

interface Parts {
  db: Database;
  clock: () => Timestamp;
  /** The doctor has its own connection, because its checks take longer than the time limit of requests. */
  connection: pg.ClientConfig;
  log: Logger;
}

export class DoctorRuns {
  /** The lease is longer than a run, so that no other replica runs the doctor at the same time. */
  readonly leaseMs = MAX_MS + 60_000;
  private readonly parts: Parts;
  private readonly stopping = new AbortController();
  private running: Promise<void> = Promise.resolve();

  constructor(parts: Parts) {
    this.parts = parts;
  }

  /** Runs the doctor in the background. The caller must have stored `startTime` as the start of the run. */
  begin(startTime: Timestamp): void {
    this.running = this.running.then(() => this.run(startTime));
  }

  async runIfDue(everyHours: number): Promise<false> {
    const { db, clock } = this.parts;
    const now = clock();
    if (await claimDoctorRun(db, hoursBefore(now, everyHours), now, this.leaseMs)) this.begin(now);
    return false;
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  private async run(startTime: Timestamp): Promise<void> {
    const { db, clock, log } = this.parts;
    const ended = await this.examine().catch((error: Error) => {
      log.warn({ component: 'doctor', reason: error.message }, 'the doctor was not finished');
      return { failure: FAILURE };
    });
    await endDoctorRun(db, startTime, clock(), ended).catch((error: Error) =>
      log.warn({ component: 'doctor', reason: error.message }, "the doctor's findings were not stored"),
    );
  }

  private async examine() {
    // Load the checks only when needed, so that the exchange starts sooner.
    const { CHECKS, doctor } = await import('../database/doctor.ts');
    const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(MAX_MS)]);
    const findings = await doctor({ connection: this.parts.connection, signal });
    return { checks: CHECKS.length, findings };
  }
}
