/** Follows the changes of a party in order to act on them, and polls in case a change was missed. */
import type { Change, ChangeKind } from '@measurement-exchange/contract';
import { type Clock, systemClock } from './clock.ts';
import { messageOf } from './errors.ts';
import { type Listener, listen } from './sharedWatch.ts';
import type { ExchangeClient } from './types.ts';

/** Options of `followChanges`. */
export interface FollowOptions {
  /** Your own name: `measurementConsumers/…`, `dataProviders/…` or `duchies/…`. */
  parent: string;
  kinds: ChangeKind[];
  /** Limits the changes to this resource and the resources below it. */
  name?: string;
  /** When the signal is aborted, the follower closes, and `next` rejects with the reason. */
  signal?: AbortSignal | undefined;
  clock?: Clock;
  /** Called with the reason when changes cannot be followed, and `next` requests polls more often. */
  onPolling?: ((why: string) => void) | undefined;
  /** Called when changes can be followed again. */
  onFollowing?: (() => void) | undefined;
}

/** The reason why `Follower.next` resolved. */
export interface Wake {
  /** The latest change of each resource that changed. */
  changes: Change[];
  /** Whether anything may have changed, so that the caller must read all its resources. */
  poll: boolean;
}

/** Waits for changes. Followers of the same changes with the same client share one watch. */
export interface Follower {
  /**
   * Resolves when something changed or a poll is due. A poll is due at first and whenever changes can be followed again,
   * every `pollMs` while changes cannot be followed, and otherwise every 30 seconds or `pollMs`, whichever is longer.
   */
  next(pollMs: number): Promise<Wake>;
  /** Schedules a poll after this time, unless one is due sooner. */
  pollIn(ms: number): void;
  close(): void;
}

/** The interval of polls while changes are followed, in case one was missed. */
const NET_MS = 30_000;
/** If more resources than this changed, a poll is less work than reading each of them. */
const MAX_CHANGES = 50;

/**
 * Follows changes in order to act on each at once. No change is missed between a poll that `next` requested and the
 * changes that `next` returns afterwards.
 *
 * @example
 * const follower = followChanges(client, { parent, kinds: ['REQUISITION'] });
 * try {
 *   for (;;) {
 *     const { changes, poll } = await follower.next(2_000);
 *     …
 *   }
 * } finally {
 *   follower.close();
 * }
 */
export function followChanges(client: ExchangeClient, options: FollowOptions): Follower {
  return new ChangeFollower(client, options);
}

class ChangeFollower implements Follower, Listener {
  private readonly stopListening: () => void;
  private readonly options: FollowOptions;
  private readonly clock: Clock;
  private readonly changes = new Map<string, Change>();
  private isFollowing = false;
  private isPollingSaid = false;
  private polledAt = Number.NEGATIVE_INFINITY;
  private pollAt = Number.POSITIVE_INFINITY;
  private wake = () => {};
  /** The error that a callback threw; `next` rejects with this error. */
  private thrown: { error: unknown } | undefined;

  constructor(client: ExchangeClient, options: FollowOptions) {
    this.options = options;
    this.clock = options.clock ?? systemClock;
    const { parent, kinds, signal } = options;
    this.stopListening = listen(client, { parent, 'filter.kinds': kinds }, this);
    if (signal?.aborted) this.stopListening();
    signal?.addEventListener('abort', this.close, { once: true });
  }

  readonly close = (): void => {
    this.options.signal?.removeEventListener('abort', this.close);
    this.stopListening();
  };

  async next(pollMs: number): Promise<Wake> {
    for (;;) {
      this.options.signal?.throwIfAborted();
      if (this.thrown !== undefined) throw this.thrown.error;
      const everyMs = this.isFollowing ? Math.max(pollMs, NET_MS) : pollMs;
      const leftMs = Math.min(this.pollAt, this.polledAt + everyMs) - this.clock.now();
      if (leftMs <= 0) return { changes: this.take(), poll: this.polls() };
      if (this.changes.size > 0) return { changes: this.take(), poll: false };
      await this.pause(leftMs);
    }
  }

  pollIn(ms: number): void {
    this.pollAt = Math.min(this.pollAt, this.clock.now() + ms);
    this.wake();
  }

  onFollowing(): void {
    this.isFollowing = true;
    if (this.isPollingSaid) this.tell(() => this.options.onFollowing?.());
    this.isPollingSaid = false;
    // Changes from before this moment are not reported, so a poll looks for them.
    this.pollIn(0);
  }

  onLost(reason: unknown): void {
    this.isFollowing = false;
    this.isPollingSaid = true;
    this.tell(() => this.options.onPolling?.(messageOf(reason)));
    this.wake();
  }

  onChange(change: Change): void {
    const { name } = this.options;
    if (name !== undefined && change.name !== name && !change.name.startsWith(`${name}/`)) return;
    this.changes.set(change.name, change);
    this.wake();
    if (this.changes.size <= MAX_CHANGES) return;
    this.changes.clear();
    this.pollIn(0);
  }

  /** Keeps the error of a callback for `next`, since throwing it here would break the watch that others share. */
  private tell(callback: () => void): void {
    try {
      callback();
    } catch (error) {
      this.thrown ??= { error };
    }
  }

  private take(): Change[] {
    const changes = [...this.changes.values()];
    this.changes.clear();
    return changes;
  }

  private polls(): true {
    this.polledAt = this.clock.now();
    this.pollAt = Number.POSITIVE_INFINITY;
    return true;
  }

  private async pause(ms: number): Promise<void> {
    const { signal } = this.options;
    const woken = new AbortController();
    this.wake = () => woken.abort();
    const over = signal ? AbortSignal.any([signal, woken.signal]) : woken.signal;
    await this.clock.sleep(ms, over).catch(() => {});
  }
}
