/** Follows the computations of this duchy at the exchange. */
import {
  type Change,
  type Computation,
  ExchangeError,
  PENDING_COMPUTATION_STATES,
  parseName,
  timestampOf,
} from '@measurement-exchange/contract';
import { type Follower, followChanges } from '@measurement-exchange/sdk';
import { inSpan, type SpanOptions } from '@measurement-exchange/server/telemetry';
import type { Duchy } from '../context.ts';
import { endComputation, markReported, pendingComputations, unreportedUploads } from '../database/index.ts';
import { isOutage, reportFulfillment } from '../exchange.ts';
import { messageOf, repeat } from '../loop.ts';
import { follow } from './follow.ts';

export interface HeraldOptions {
  /** Between two polls while changes cannot be followed; 1 s by default. */
  pollMs?: number;
  /** Between two comparisons with everything that is pending; 5 minutes by default. */
  reconcileMs?: number;
  /** After this long an upload is reported again; 10 s by default. */
  reportAfterMs?: number;
}

export interface Herald {
  /** Polls once. */
  once(): Promise<void>;
  /** Follows what changes until the signal is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

const POLL_MS = 1_000;
const RECONCILE_MS = 5 * 60_000;
/** A change may become visible after one with a later time: transactions of the exchange take at most this long. */
const OVERLAP_MS = 15_000;
/** The clocks of this duchy and of the exchange differ by less. */
const CLOCK_SLACK_MS = 3600_000;
/** The longest time that a computation which cannot be followed is left alone. */
const MAX_PAUSE_MS = 60_000;
/** The face that stored an upload reports it within this time, or is gone. */
const REPORT_AFTER_MS = 10_000;

/** Keeps nothing over a restart, since it begins with everything that is pending; any number may run at once. */
export function createHerald(duchy: Duchy, options: HeraldOptions = {}): Herald {
  const { client, db, name, log, metrics } = duchy;
  const { pollMs = POLL_MS, reconcileMs = RECONCILE_MS, reportAfterMs = REPORT_AFTER_MS } = options;
  /** The latest change that a poll showed, by the clock of the exchange; what was pending before is found otherwise. */
  let latest = Date.now() - CLOCK_SLACK_MS;
  let reconcileAt = 0;
  /** The etags of what the last poll showed: the next one shows some of it again. */
  let shown = new Map<string, string>();
  /** Computations that have to be read again, because following them failed. */
  const missed = new Map<string, { failures: number; retryAt: number }>();

  async function take(view: Computation): Promise<void> {
    try {
      await inSpan(spanOf(view), () => follow(duchy, view));
      missed.delete(view.name!);
    } catch (error) {
      miss(view.name!, error);
    }
  }

  /** Leaves a computation alone for a while. */
  function miss(computation: string, error: unknown): void {
    // What is somebody else's cannot be read again.
    if (computation.startsWith(`${name}/`)) {
      const failures = (missed.get(computation)?.failures ?? 0) + 1;
      const pauseMs = Math.min(pollMs * (2 ** (failures - 1) - 1), MAX_PAUSE_MS);
      missed.set(computation, { failures, retryAt: Date.now() + pauseMs });
    }
    log.warn({ computation, reason: messageOf(error) }, 'computation not followed; it is tried again');
  }

  function spanOf({ name: computation, traceparent }: Computation): SpanOptions {
    return {
      name: 'follow computation',
      attributes: { 'mex.party': name, 'mex.computation': computation },
      traceparent,
    };
  }

  /** Polls find everything by themselves, whatever was taken between them. */
  function takePolled(view: Computation): Promise<void> {
    latest = Math.max(latest, Date.parse(view.updateTime!));
    return take(view);
  }

  async function takeUpdated(): Promise<void> {
    const since = timestampOf(Math.max(0, latest - OVERLAP_MS));
    const listing = client.listComputations({ parent: name, 'filter.updatedAfter': since });
    const now = new Map<string, string>();
    for await (const view of listing) {
      now.set(view.name!, view.etag!);
      if (shown.get(view.name!) !== view.etag) await takePolled(view);
    }
    shown = now;
    for (const [computation, { retryAt }] of [...missed]) {
      if (Date.now() >= retryAt) await takeByName(computation);
    }
  }

  /** Everything that is pending, at the exchange or here. */
  async function reconcile(): Promise<void> {
    const seen = new Set<string>();
    const listing = client.listComputations({
      parent: name,
      'filter.states': [...PENDING_COMPUTATION_STATES],
    });
    for await (const view of listing) {
      seen.add(view.name!);
      await takePolled(view);
    }
    for (let afterId = ''; ; ) {
      const page = await pendingComputations(db, { afterId });
      for (const { view } of page) if (!seen.has(view.name!)) await takeByName(view.name!);
      if (page.length === 0) return;
      afterId = page.at(-1)!.id;
    }
  }

  /** Throws where the exchange is out of reach; what is wrong with one computation does not hold up the others. */
  async function takeByName(computation: string): Promise<void> {
    let view: Computation;
    try {
      view = await client.getComputation({ name: computation });
    } catch (error) {
      if (error instanceof ExchangeError && error.reason === 'COMPUTATION_NOT_FOUND') return end(computation);
      if (isOutage(error)) throw error;
      return miss(computation, error);
    }
    return take(view);
  }

  /** Of a computation that the exchange says it does not have: no other answer ends one with its secrets. */
  async function end(computation: string): Promise<void> {
    missed.delete(computation);
    const { computation: id } = parseName('computation', computation)!;
    const ended = { outcome: 'CANCELLED', failure: 'The exchange has removed it.' } as const;
    await endComputation(db, id, { ...ended, keepsBlobs: duchy.keepsBlobs });
  }

  /** Uploads that were stored, and whose report to the exchange was cut short. */
  async function reportUploads(): Promise<void> {
    const before = Date.now() - reportAfterMs;
    for (let afterName = ''; ; ) {
      const page = await unreportedUploads(db, { afterName });
      for (const { computation, requisition, nonce, createTime } of page) {
        if (createTime.getTime() > before) continue;
        try {
          await reportFulfillment(client, `${name}/computations/${computation}`, { requisition, nonce });
          await markReported(db, requisition);
        } catch (error) {
          log.warn({ requisition, reason: messageOf(error) }, 'upload not reported; it is tried again');
          if (isOutage(error)) return;
        }
      }
      if (page.length === 0) return;
      afterName = page.at(-1)!.requisition;
    }
  }

  async function poll(): Promise<void> {
    if (Date.now() >= reconcileAt) {
      await reconcile();
      reconcileAt = Date.now() + reconcileMs;
    } else {
      await takeUpdated();
    }
    metrics.heraldPolled();
  }

  /** Waits until something changed, or a poll is due. */
  async function act(follower: Follower): Promise<true> {
    const wake = await follower.next(pollMs);
    try {
      if (wake.poll) await poll();
      else for (const change of wake.changes) if (isOwn(change)) await takeByName(change.name);
    } catch (error) {
      follower.pollIn(0);
      throw error;
    }
    for (const { retryAt } of missed.values()) follower.pollIn(Math.max(pollMs, retryAt - Date.now()));
    return true;
  }

  const isOwn = (change: Change) => change.name.startsWith(`${name}/computations/`);

  return {
    async once() {
      await poll();
      await reportUploads();
    },
    async run(signal) {
      const follower = followChanges(client, {
        parent: name,
        kinds: ['COMPUTATION'],
        signal,
        onPolling: (reason) => log.warn({ reason }, 'changes cannot be followed; the exchange is polled'),
        onFollowing: () => log.info('changes are followed again'),
      });
      const options = { everyMs: pollMs, signal, log };
      await Promise.all([
        repeat('herald', () => act(follower), options),
        repeat('report of uploads', reportUploads, options),
      ]);
      follower.close();
    },
  };
}
