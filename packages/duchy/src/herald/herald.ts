/** Follows changes to this duchy's computations at the exchange, and applies them to the database. */
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
  /** The interval between polls of the exchange while its change feed is unavailable. Defaults to 1 s. */
  pollMs?: number;
  /** The interval between comparisons of all pending computations with the exchange. Defaults to 5 minutes. */
  reconcileMs?: number;
  /** The minimum age of an unreported upload before the herald reports it. Defaults to 10 s. */
  reportAfterMs?: number;
}

const POLL_MS = 1_000;
const RECONCILE_MS = 5 * 60_000;
/**
 * Each poll also lists the changes in this period before the latest known change, because a slow transaction at the
 * exchange can make an older change visible late.
 */
const OVERLAP_MS = 15_000;
/** The assumed maximum difference between this duchy's clock and the exchange's clock. */
const CLOCK_SLACK_MS = 3600_000;
/** The default of `reportAfterMs`. Normally, the duchy's HTTP server has reported an upload within this time. */
const REPORT_AFTER_MS = 10_000;

/**
 * Reads changes from the exchange, and applies them to the duchy's database. At startup, the herald reads all pending
 * computations, because it does not store which changes it has applied.
 */
export class Herald {
  private readonly duchy: Duchy;
  private readonly options: Required<HeraldOptions>;
  /**
   * The time of the latest change found by a poll, according to the exchange's clock. The initial value is an hour ago,
   * so that it is early enough even if this duchy's clock is ahead of the exchange's clock.
   */
  private latestUpdate = Date.now() - CLOCK_SLACK_MS;
  private reconcileAt = 0;
  /** Each computation's etag in the last poll, by name. The next poll skips computations whose etag has not changed. */
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

  /** Waits until a change arrives or a poll is due. Then applies the changed computations to the database. */
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

  /** Updates every computation that is pending at the exchange or in the database. */
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

  /** Applies the computations that changed since the last poll. Also retries postponed computations that are due. */
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

  /**
   * Applies a computation that a poll returned, and advances `latestUpdate`. The change feed does not advance
   * `latestUpdate`, so a poll also finds changes that the feed missed.
   */
  private applyPolled(view: Computation): Promise<void> {
    this.latestUpdate = Math.max(this.latestUpdate, Date.parse(view.updateTime!));
    return this.apply(view);
  }

  /**
   * Reads a computation from the exchange and applies it. Ends the computation if the exchange no longer has it. Throws
   * if the exchange is unavailable or denies access, and schedules a retry after any other error.
   */
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
    const line = { computation, reason: messageOf(error) };
    if (!this.isOwn({ name: computation })) {
      // Don't retry another duchy's computation, because this duchy cannot read it.
      this.duchy.log.warn(line, "another duchy's computation is not followed");
      return;
    }
    this.postponed.add(computation);
    this.duchy.log.warn(line, 'computation not followed; it is tried again');
  }

  private span({ name: computation, traceparent }: Computation): SpanOptions {
    const attributes = { 'mex.party': this.duchy.name, 'mex.computation': computation };
    return { name: 'follow computation', attributes, traceparent };
  }

  /**
   * Ends a computation that the exchange no longer has, and deletes its secrets. Call this only after the error
   * COMPUTATION_NOT_FOUND.
   */
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
