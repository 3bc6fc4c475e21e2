/** Tells the caller when a party's resources change, and when to poll in case a change was missed. */
import type { Change, ChangeKind } from '@measurement-exchange/contract';
import { type Clock, systemClock } from './clock.ts';
import { messageOf } from './errors.ts';
import { type Listener, listen } from './sharedWatch.ts';
import type { ExchangeClient } from './types.ts';

/** Options for `followChanges`. */
export interface FollowOptions {
  /** Your own name: `measurementConsumers/…`, `dataProviders/…` or `duchies/…`. */
  parent: string;
  kinds: ChangeKind[];
  /** Limits the changes to this resource and the resources under it. */
  name?: string;
  /** Aborting the signal closes the follower and makes `next` reject with the signal's reason. */
  signal?: AbortSignal | undefined;
  clock?: Clock;
  /**
   * Called with the reason when the connection for changes is lost. Until the connection is back, `next` requests polls
   * more often.
   */
  onPolling?: ((why: string) => void) | undefined;
  /** Called when the connection is back after a call of `onPolling`. */
  onFollowing?: (() => void) | undefined;
}

/** The result of `Follower.next`: the changes to handle, and whether to poll. */
export interface Wake {
  /** The latest change to each resource that changed. */
  changes: Change[];
  /** Whether a poll is due. The caller must then read all of its resources, because changes may have been missed. */
  poll: boolean;
}

/** Waits for changes. Followers of the same changes share one watch if they use the same client. */
export interface Follower {
  /**
   * Resolves when a resource has changed or a poll is due. A poll is due at the start, and whenever the watch starts or
   * recovers. While the watch works, a poll is due every 30 seconds, or every `pollMs` if that is longer. While the
   * watch is starting or interrupted, a poll is due every `pollMs`.
   */
  next(pollMs: number): Promise<Wake>;
  /** Makes a poll due in `ms` milliseconds, unless one is due sooner. */
  pollIn(ms: number): void;
  close(): void;
}

/** The minimum polling interval while the watch works. Polls are then needed only to find changes that were missed. */
export const WATCHED_POLL_MS = 30_000;
/**
 * The maximum number of changes to collect. If there are more, one poll is cheaper than reading each changed resource.
 */
const MAX_CHANGES = 50;

/**
 * Follows changes, so that the caller can act on each change right away. After a poll, `next` returns every later
 * change or requests another poll, so the caller misses no change.
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
  /** An error that a callback threw. `next` rejects with this error. */
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
      const everyMs = this.isFollowing ? Math.max(pollMs, WATCHED_POLL_MS) : pollMs;
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
    // The watch does not report earlier changes, so poll for them.
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

  /** Saves a callback's error for `next`. Throwing it here would break the watch, which other followers share. */
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
