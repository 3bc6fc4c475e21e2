/** Runs the background jobs. A job may run on several replicas at the same time. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeError } from '@measurement-exchange/contract';
import { Waker } from '@measurement-exchange/server';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import { storeReplica } from '../database/replicas.ts';
import { hoursBefore } from '../domain/time.ts';
import type { Exchange } from '../operations/context.ts';
import { Deliverer } from '../webhooks/deliverer.ts';
import { Destinations } from '../webhooks/destinations.ts';
import type { DeliveryObserver } from '../webhooks/round.ts';
import { cascadeRevocations } from './cascadeRevocations.ts';
import { removeOldChanges } from './changes.ts';
import { failOverdueComputations } from './computationDeadlines.ts';
import { applyRetention } from './retention.ts';
import { ReportSettler } from './settleReports.ts';

interface Job {
  name: string;
  everyMs: number;
  /** Does a limited amount of work. Returns true if there may be more to do. */
  run: () => Promise<boolean>;
}

export class Jobs {
  private readonly exchange: Exchange;
  private readonly log: Logger;
  private readonly deliverer: Deliverer;
  private readonly settler: ReportSettler;
  private readonly loops: Promise<void>[];
  private isStopping = false;
  private readonly waker = new Waker();

  constructor(exchange: Exchange, config: Config, log: Logger, observer?: DeliveryObserver) {
    this.exchange = exchange;
    this.log = log;
    const destinations = new Destinations(config.webhooks, exchange.allowsHttp);
    this.deliverer = new Deliverer({ ...exchange, destinations, observer });
    this.settler = new ReportSettler(exchange);
    exchange.bus.on('work', this.waker.wake).on('changed', this.changed);
    this.loops = jobsOf(exchange, config, this.deliverer, this.settler).map((job) => this.loop(job));
  }

  /** Stops all jobs. Waits until each running job has finished its current batch of work. */
  async stop(): Promise<void> {
    this.exchange.bus.off('work', this.waker.wake).off('changed', this.changed);
    this.isStopping = true;
    this.waker.wake();
    await Promise.all([...this.loops, this.deliverer.stop(), this.settler.stop()]);
  }

  private readonly changed = (parties: Iterable<string> | undefined): void => {
    if (parties === undefined) {
      this.waker.wake();
      return;
    }
    this.deliverer.changed(parties);
    this.settler.changed(parties);
  };

  private async loop({ name, everyMs, run }: Job): Promise<void> {
    while (!this.isStopping) {
      const { woken } = this.waker;
      let more = false;
      try {
        more = await run();
      } catch (error) {
        // If the database is busy, log only a warning, because the next run may succeed.
        const isBusy = error instanceof ExchangeError && error.code === 'UNAVAILABLE';
        const failure = { job: name, reason: (error as Error).message };
        this.log[isBusy ? 'warn' : 'error'](failure, 'a background job failed; it runs again');
      }
      if (!more) await sleep(everyMs, undefined, { signal: woken, ref: false }).catch(() => {});
    }
  }
}

function jobsOf(exchange: Exchange, config: Config, deliverer: Deliverer, settler: ReportSettler): Job[] {
  const { changes, computations, doctorEveryHours, retention } = config;
  const { clock, db, doctor, lastSeen, replica } = exchange;
  const jobs: Job[] = [
    { name: 'cascadeRevocations', everyMs: 1_000, run: () => cascadeRevocations(exchange) },
    {
      name: 'computationDeadlines',
      everyMs: 10_000,
      run: () => failOverdueComputations(exchange, computations),
    },
    { name: 'lastSeen', everyMs: 30_000, run: () => lastSeen.store(db).then(() => false) },
    {
      name: 'replica',
      everyMs: 60_000,
      run: () => storeReplica(db, replica, clock(), hoursBefore(clock(), 24)).then(() => false),
    },
    { name: 'changes', everyMs: 60_000, run: () => removeOldChanges(exchange, changes.keepDays) },
    { name: 'deliverWebhooks', everyMs: 2_000, run: () => deliverer.run() },
    { name: 'settleReports', everyMs: 2_000, run: () => settler.run() },
  ];
  if (doctorEveryHours > 0) {
    jobs.push({ name: 'doctor', everyMs: 600_000, run: () => doctor.runIfDue(doctorEveryHours) });
  }
  if (retention !== undefined) {
    jobs.push({ name: 'retention', everyMs: 60_000, run: () => applyRetention(exchange, retention) });
  }
  return jobs;
}
