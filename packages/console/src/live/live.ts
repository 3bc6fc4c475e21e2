/** Keeps the page up to date: follows the party's changes, and reads again what changed. */
import type { QueryClient } from '@tanstack/react-query';
import type { Session } from '../session/session.ts';

export type Connection = 'connecting' | 'live' | 'offline' | 'refreshed';

/** Follows the changes until the signal is aborted. The operator has no feed of changes. */
export async function follow(
  session: Session,
  queries: QueryClient,
  { signal, onConnection }: { signal: AbortSignal; onConnection: (connection: Connection) => void },
): Promise<void> {
  const { client, principal } = session;
  if (principal === 'operator') return;
  let wasOffline = false;
  const refresh = () => queries.invalidateQueries({ queryKey: [principal] });
  while (!signal.aborted) {
    try {
      const changes = client.watch({
        parent: principal,
        signal,
        onFollowing() {
          onConnection(wasOffline ? 'refreshed' : 'live');
          if (wasOffline) void refresh();
          wasOffline = false;
        },
        onRetry() {
          wasOffline = true;
          onConnection('offline');
        },
      });
      for await (const { name } of changes) void invalidate(queries, principal, name);
    } catch {
      if (signal.aborted) return;
      // The feed no longer has the changes since the last one that was read, or the token has expired. Read everything again.
      wasOffline = true;
      onConnection('offline');
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  }
}

/** Reads again each list of this kind of resource, and the resource itself. See `useResource` for the keys. */
async function invalidate(queries: QueryClient, principal: string, name: string): Promise<void> {
  const collection = name.split('/').at(-2)!;
  await queries.invalidateQueries({ queryKey: [principal, collection] });
}
