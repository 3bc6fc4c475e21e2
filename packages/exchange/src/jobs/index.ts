/** Work in the background, on every replica; each job is safe to run on several at once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { ExchangeError } from '@measurement-exchange/contract';
import type { Logger } from 'pino';
import type { Config } from '../config/config.ts';
import type { Exchange } from '../operations/context.ts';
import { Deliverer, type DeliveryObserver } from '../webhooks/deliverer.ts';
import { Destinations } from '../webhooks/destinations.ts';
import { cascadeRevocations } from './cascadeRevocations.ts';
import { removeOldChanges } from './changes.ts';
import { failOverdueComputations } from './computationDeadlines.ts';
import { applyRetention } from './retention.ts';

export interface Jobs {
  /** There is work now. */
  wake(): void;
  /** Something changed for these parties; perhaps for all where none are named. */
  changed(parties?: Iterable<string>): void;
  /** Lets what runs finish its batch. */
  stop(): Promise<void>;
}

interface Job {
  name: string;
  everyMs: number;
  /** Does a bounded part of the work; true when more is left. */
  run: (exchange: Exchange) => Promise<boolean>;
}

export function startJobs(
  exchange: Exchange,
  config: Config,
  log: Logger,
  observer?: DeliveryObserver,
): Jobs {
  const { changes, computations, retention, webhooks } = config;
  const jobs: Job[] = [
    { name: 'cascadeRevocations', everyMs: 1_000, run: cascadeRevocations },
    {
      name: 'computationDeadlines',
      everyMs: 10_000,
      run: () => failOverdueComputations(exchange, computations),
    },
    { name: 'lastSeen', everyMs: 30_000, run: storeLastSeen },
  ];
  jobs.push({ name: 'changes', everyMs: 60_000, run: () => removeOldChanges(exchange, changes.keepDays) });
  if (retention !== undefined) {
    jobs.push({ name: 'retention', everyMs: 60_000, run: () => applyRetention(exchange, retention) });
  }

  const destinations = new Destinations(webhooks, exchange.allowsHttp);
  const deliverer = new Deliverer({ ...exchange, destinations }, observer);
  jobs.push({ name: 'deliverWebhooks', everyMs: 2_000, run: () => deliverer.run() });

  const stopping = new AbortController();
  let waking = new AbortController();
  const loops = jobs.map(async ({ name, everyMs, run }) => {
    while (!stopping.signal.aborted) {
      // Taken before the run: a wake during it is not lost.
      const woken = waking.signal;
      let more = false;
      try {
        more = await run(exchange);
      } catch (error) {
        // The next run may find a database that is not busy.
        const isBusy = error instanceof ExchangeError && error.code === 'UNAVAILABLE';
        const failure = { job: name, reason: (error as Error).message };
        log[isBusy ? 'warn' : 'error'](failure, 'a background job failed; it runs again');
      }
      if (!more) await pause(everyMs, AbortSignal.any([stopping.signal, woken]));
    }
  });
  const wake = () => {
    waking.abort();
    waking = new AbortController();
  };
  return {
    wake,
    changed: (parties) => (parties === undefined ? wake() : deliverer.changed(parties)),
    async stop() {
      stopping.abort();
      await Promise.all([...loops, deliverer.stop()]);
    },
  };
}

async function storeLastSeen({ db, lastSeen }: Exchange): Promise<boolean> {
  await lastSeen.store(db);
  return false;
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal, ref: false }).catch(() => {});
}
