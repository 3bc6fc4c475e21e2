/** Shares one watch between all followers of the same changes, because an exchange limits the number of watches. */
import { type Change, ExchangeError } from '@measurement-exchange/contract';
import { backoffMs, systemClock } from './clock.ts';
import type { ExchangeClient } from './types.ts';
import type { WatchArguments } from './watch.ts';

export interface Listener {
  /**
   * Called when the watch has started. From now on, `onChange` reports every change. Earlier changes are not reported.
   */
  onFollowing(): void;
  /** Called when the watch is interrupted. No change is reported until `onFollowing` is called again. */
  onLost(reason: unknown): void;
  onChange(change: Change): void;
}

type Watched = Pick<WatchArguments, 'parent' | 'filter.kinds'>;

const open = new WeakMap<ExchangeClient, Map<string, SharedWatch>>();

export function listen(client: ExchangeClient, watched: Watched, listener: Listener): () => void {
  const watches = open.get(client) ?? new Map<string, SharedWatch>();
  open.set(client, watches);
  const key = JSON.stringify(watched);
  const watch = watches.get(key) ?? new SharedWatch(client, watched, () => watches.delete(key));
  watches.set(key, watch);
  watch.add(listener);
  return () => watch.remove(listener);
}

class SharedWatch {
  private readonly client: ExchangeClient;
  private readonly watched: Watched;
  private readonly onEnd: () => void;
  private readonly listeners = new Set<Listener>();
  private readonly ending = new AbortController();
  private state: 'STARTING' | 'FOLLOWING' | 'LOST' = 'STARTING';
  private reason: unknown;

  constructor(client: ExchangeClient, watched: Watched, onEnd: () => void) {
    this.client = client;
    this.watched = watched;
    this.onEnd = onEnd;
    void this.run();
  }

  add(listener: Listener): void {
    this.listeners.add(listener);
    if (this.state === 'FOLLOWING') listener.onFollowing();
    else if (this.state === 'LOST') listener.onLost(this.reason);
  }

  remove(listener: Listener): void {
    if (!this.listeners.delete(listener) || this.listeners.size > 0) return;
    this.onEnd();
    this.ending.abort();
  }

  private async run(): Promise<void> {
    const { signal } = this.ending;
    for (let failures = 0; !signal.aborted; ) {
      const onFollowing = () => {
        failures = 0;
        this.following();
      };
      const reason = await this.follow(onFollowing).catch((error: unknown) => error);
      if (signal.aborted) return;
      failures++;
      // If the exchange no longer has the changes that followed the last token, start a new watch at once, without
      // reporting a loss. The listeners then poll to find out what they missed.
      const isExpired = reason instanceof ExchangeError && reason.reason === 'CHANGE_TOKEN_EXPIRED';
      if (isExpired && failures === 1) {
        this.state = 'STARTING';
        continue;
      }
      this.lost(reason);
      await systemClock.sleep(backoffMs(failures), signal).catch(() => {});
    }
  }

  private async follow(onFollowing: () => void): Promise<unknown> {
    const { signal } = this.ending;
    const onRetry = (reason: unknown) => this.lost(reason);
    for await (const change of this.client.watch({ ...this.watched, signal, onFollowing, onRetry })) {
      for (const listener of [...this.listeners]) listener.onChange(change);
    }
    return new Error('The watch of changes has ended.');
  }

  private following(): void {
    if (this.state === 'FOLLOWING') return;
    this.state = 'FOLLOWING';
    for (const listener of [...this.listeners]) listener.onFollowing();
  }

  private lost(reason: unknown): void {
    if (this.state === 'LOST') return;
    this.state = 'LOST';
    this.reason = reason;
    for (const listener of [...this.listeners]) listener.onLost(reason);
  }
}
