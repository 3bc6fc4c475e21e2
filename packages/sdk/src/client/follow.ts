/** Following the changes of a party in order to act on them, with polls as the net. */
import type { Change, ChangeKind } from '@measurement-exchange/contract';
import { type Clock, systemClock } from './clock.ts';
import { messageOf } from './errors.ts';
import { type Listener, listen } from './sharedWatch.ts';
import type { ExchangeClient } from './types.ts';

/** The changes to follow, and callbacks for when that does not work. */
export interface FollowOptions {
  /** Your own name: `measurementConsumers/…`, `dataProviders/…` or `duchies/…`. */
  parent: string;
  kinds: ChangeKind[];
  /** Only changes of this resource, and of those below it. */
  name?: string;
  /** Aborted, it is closed, and `next` rejects with its reason. */
  signal?: AbortSignal | undefined;
  clock?: Clock;
  /** Called with the reason when changes cannot be followed, so that `next` asks for more polls. */
  onPolling?: ((why: string) => void) | undefined;
  /** Called when they can be followed again. */
  onFollowing?: (() => void) | undefined;
}

/** Why a follower acts now. */
export interface Wake {
  /** The latest change of each resource that changed. */
  changes: Change[];
  /** Anything may have changed: read all that matters. */
  poll: boolean;
}

/** Waits for changes. All that follow the same with one client share one watch. */
export interface Follower {
  /**
   * Resolves when something changed or a poll is due: at first, when changes are followed from now on, every `pollMs`
   * while they cannot be, and otherwise every 30 seconds, or `pollMs` where that is longer.
   */
  next(pollMs: number): Promise<Wake>;
  /** Makes a poll due after this time at the latest. */
  pollIn(ms: number): void;
  close(): void;
}

/** For changes that nobody was told of. */
const NET_MS = 30_000;
/** Where more resources than this changed, a poll is less work than to read each. */
const MAX_CHANGES = 50;

/**
 * Follows changes, in order to act on each at once. A poll that begins after `next` asked for it, and the changes that
 * `next` returns from then on, have no gap between them.
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
  /** The error that a callback threw: `next` rejects with it. */
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
    // Changes from before are not reported.
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

  /** Others share the watch that tells this. */
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
