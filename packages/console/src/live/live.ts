/** Keeps the page up to date. Follows the party's changes, and reads changed data again. */
import type { QueryClient } from '@tanstack/react-query';
import type { Session } from '../session/session.ts';

export type Connection = 'connecting' | 'live' | 'offline' | 'refreshed';

/**
 * Follows changes until the signal is aborted. Only a visible page keeps a connection, because all tabs of a browser
 * share about six connections to a server.
 */
export async function follow(
  session: Session,
  queries: QueryClient,
  { signal, onConnection }: { signal: AbortSignal; onConnection: (connection: Connection) => void },
): Promise<void> {
  const { client, principal } = session;
  if (principal === 'operator') return;
  let wasOffline = false;
  let wasHidden = false;
  const changed = refresher((collection) => queries.invalidateQueries({ queryKey: [principal, collection] }));
  const refreshAll = () => {
    void queries.invalidateQueries({ queryKey: [principal] });
    for (const listener of listeners) listener(undefined);
  };
  while (!signal.aborted) {
    const { hidden, end } = await untilHidden(signal);
    try {
      const changes = client.watch({
        parent: principal,
        signal: hidden,
        onFollowing() {
          onConnection(wasOffline ? 'refreshed' : 'live');
          if (wasOffline || wasHidden) refreshAll();
          wasOffline = false;
          wasHidden = false;
        },
        onRetry() {
          wasOffline = true;
          onConnection('offline');
        },
      });
      for await (const { name } of changes) {
        for (const listener of listeners) listener(name);
        changed(name.split('/').at(-2)!);
      }
    } catch {
      if (signal.aborted) return;
      wasHidden ||= hidden.aborted;
      if (hidden.aborted) continue;
      // The feed may have dropped old changes, or the token may have expired. Because the page may have missed changes,
      // `wasOffline` makes it read everything again when the connection is back.
      wasOffline = true;
      onConnection('offline');
      await new Promise((resolve) => setTimeout(resolve, 1000));
    } finally {
      end();
    }
  }
}

/** Waits until the page is visible. The returned signal is aborted when the page is hidden, or by `end`. */
async function untilHidden(signal: AbortSignal): Promise<{ hidden: AbortSignal; end: () => void }> {
  const isVisible = () => document.visibilityState === 'visible';
  const ended = new AbortController();
  const shown = Promise.withResolvers<void>();
  const end = () => {
    ended.abort();
    shown.resolve();
  };
  const look = () => (isVisible() ? shown.resolve() : ended.abort());
  document.addEventListener('visibilitychange', look, { signal: ended.signal });
  signal.addEventListener('abort', end, { signal: ended.signal });
  if (isVisible()) shown.resolve();
  await shown.promise;
  return { hidden: ended.signal, end };
}

/** Called with the name of a resource that changed, or with undefined if changes may have been missed. */
export type ChangeListener = (name: string | undefined) => void;
const listeners = new Set<ChangeListener>();

export function onChange(listener: ChangeListener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const COLLECT_MS = 50;
const MAX_READ_MS = 2000;

/**
 * Returns a function that reads a changed collection again. All changes of a collection during a read cause only one
 * more read, so that many changes do not flood the exchange.
 */
export function refresher(read: (collection: string) => Promise<unknown>): (collection: string) => void {
  const waiting = new Set<string>();
  let isRunning = false;
  const run = async () => {
    isRunning = true;
    while (waiting.size > 0) {
      await pause(COLLECT_MS);
      const collections = [...waiting];
      waiting.clear();
      await Promise.race([Promise.all(collections.map(read)), pause(MAX_READ_MS)]);
    }
    isRunning = false;
  };
  return (collection) => {
    waiting.add(collection);
    if (!isRunning) void run();
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
