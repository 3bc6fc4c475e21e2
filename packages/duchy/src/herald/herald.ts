/** Follows the changes of this duchy's computations at the exchange, and applies them. */
import {
  type Change,
  type Computation,
  ExchangeError,
  PENDING_COMPUTATION_STATES,
  parseName,
  timestampOf,
} from '@measurement-exchange/contract';
import { type Follower, followChanges } from '@measurement-exchange/sdk/client';
import { messageOf, repeat } from '@measurement-exchange/server';
import { inSpan, type SpanOptions } from '@measurement-exchange/server/telemetry';
import type { Duchy } from '../computations/context.ts';
import { isOutage } from '../computations/exchange.ts';
import { follow } from '../computations/follow.ts';
import { endComputation, pendingComputations } from '../database/index.ts';
import { Postponed } from './postponed.ts';
import { reportUploads } from './reportUploads.ts';

export interface HeraldOptions {
  /** The time between two polls while the feed of changes is not available; 1 s by default. */
  pollMs?: number;
  /** The time between two comparisons with all pending computations; 5 minutes by default. */
  reconcileMs?: number;
  /** The age from which the herald reports unreported uploads; 10 s by default. */
  reportAfterMs?: number;
}

const POLL_MS = 1_000;
const RECONCILE_MS = 5 * 60_000;
/** A change may become visible after another with a later time, because transactions of the exchange take up to this long. */
const OVERLAP_MS = 15_000;
/** The clocks of this duchy and of the exchange differ by less than this. */
const CLOCK_SLACK_MS = 3600_000;
/** The face reports an upload within this time, unless its process has stopped. */
const REPORT_AFTER_MS = 10_000;

/** A herald needs no stored state, because it starts with everything that is pending. Several may run at once. */
export class Herald {
  private readonly duchy: Duchy;
  private readonly options: Required<HeraldOptions>;
  /** The time of the latest change in a poll, by the clock of the exchange. */
  private latestUpdate = Date.now() - CLOCK_SLACK_MS;
  private reconcileAt = 0;
  /** The etags of the computations in the last poll, because the next poll returns some of them again. */
  private lastPoll = new Map<string, string>();
  private readonly postponed: Postponed;

  constructor(duchy: Duchy, options: HeraldOptions = {}) {
    this.duchy = duchy;
    this.options = { pollMs: POLL_MS, reconcileMs: RECONCILE_MS, reportAfterMs: REPORT_AFTER_MS, ...options };
    this.postponed = new Postponed(this.options.pollMs);
  }

  async once(): Promise<void> {
    await this.poll();
    await this.reportUploads();
  }

  async run(signal: AbortSignal): Promise<void> {
    const { client, name, log } = this.duchy;
    const follower = followChanges(client, {
      parent: name,
      kinds: ['COMPUTATION'],
      signal,
      onPolling: (reason) => log.warn({ reason }, 'changes cannot be followed; the exchange is polled'),
      onFollowing: () => log.info('changes are followed again'),
    });
    const options = { everyMs: this.options.pollMs, signal, log };
    await Promise.all([
      repeat('herald', () => this.applyNext(follower), options),
      repeat('report of uploads', () => this.reportUploads(), options),
    ]);
    follower.close();
  }

  /** Waits for changes or until a poll is due, and applies them. */
  private async applyNext(follower: Follower): Promise<true> {
    const { pollMs } = this.options;
    const wake = await follower.next(pollMs);
    try {
      if (wake.poll) await this.poll();
      else for (const change of wake.changes) if (this.isOwn(change)) await this.readAndApply(change.name);
    } catch (error) {
      follower.pollIn(0);
      throw error;
    }
    for (const retryAt of this.postponed.retryTimes()) {
      follower.pollIn(Math.max(pollMs, retryAt - Date.now()));
    }
    return true;
  }

  private isOwn({ name }: Pick<Change, 'name'>): boolean {
    return name.startsWith(`${this.duchy.name}/computations/`);
  }

  private async poll(): Promise<void> {
    if (Date.now() >= this.reconcileAt) {
      await this.reconcile();
      this.reconcileAt = Date.now() + this.options.reconcileMs;
    } else {
      await this.applyUpdated();
    }
    this.duchy.metrics.heraldPolled();
  }

  /** Applies all computations that are pending at the exchange or in the database. */
  private async reconcile(): Promise<void> {
    const { client, db, name } = this.duchy;
    const seen = new Set<string>();
    const filter = { 'filter.states': [...PENDING_COMPUTATION_STATES] };
    for await (const view of client.listComputations({ parent: name, ...filter })) {
      seen.add(view.name!);
      await this.applyPolled(view);
    }
    for (let afterId = ''; ; ) {
      const page = await pendingComputations(db, { afterId });
      for (const { view } of page) if (!seen.has(view.name!)) await this.readAndApply(view.name!);
      if (page.length === 0) return;
      afterId = page.at(-1)!.id;
    }
  }

  /** Applies the computations that changed since the last poll, and those that failed before. */
  private async applyUpdated(): Promise<void> {
    const { client, name } = this.duchy;
    const since = timestampOf(Math.max(0, this.latestUpdate - OVERLAP_MS));
    const polled = new Map<string, string>();
    for await (const view of client.listComputations({ parent: name, 'filter.updatedAfter': since })) {
      polled.set(view.name!, view.etag!);
      if (this.lastPoll.get(view.name!) !== view.etag) await this.applyPolled(view);
    }
    this.lastPoll = polled;
    for (const computation of this.postponed.due()) await this.readAndApply(computation);
  }

  /** Only polls advance `latestUpdate`, because polls must find every change without the feed. */
  private applyPolled(view: Computation): Promise<void> {
    this.latestUpdate = Math.max(this.latestUpdate, Date.parse(view.updateTime!));
    return this.apply(view);
  }

  /** Throws if the exchange is unreachable. A problem with one computation does not block the others. */
  private async readAndApply(computation: string): Promise<void> {
    let view: Computation;
    try {
      view = await this.duchy.client.getComputation({ name: computation });
    } catch (error) {
      if (error instanceof ExchangeError && error.reason === 'COMPUTATION_NOT_FOUND') {
        return this.end(computation);
      }
      if (isOutage(error)) throw error;
      return this.postpone(computation, error);
    }
    return this.apply(view);
  }

  private async apply(view: Computation): Promise<void> {
    try {
      await inSpan(this.span(view), () => follow(this.duchy, view));
      this.postponed.delete(view.name!);
    } catch (error) {
      this.postpone(view.name!, error);
    }
  }

  private postpone(computation: string, error: unknown): void {
    // Computations of other duchies cannot be read again.
    if (this.isOwn({ name: computation })) this.postponed.add(computation);
    const line = { computation, reason: messageOf(error) };
    this.duchy.log.warn(line, 'computation not followed; it is tried again');
  }

  private span({ name: computation, traceparent }: Computation): SpanOptions {
    const attributes = { 'mex.party': this.duchy.name, 'mex.computation': computation };
    return { name: 'follow computation', attributes, traceparent };
  }

  /** Ends a computation that the exchange does not have. No other error deletes secrets. */
  private async end(computation: string): Promise<void> {
    const { db, keepsBlobs } = this.duchy;
    this.postponed.delete(computation);
    const { computation: id } = parseName('computation', computation)!;
    const failure = 'The exchange has removed it.';
    await endComputation(db, id, { outcome: 'CANCELLED', failure, keepsBlobs });
  }

  private reportUploads(): Promise<void> {
    return reportUploads(this.duchy, Date.now() - this.options.reportAfterMs);
  }
}
