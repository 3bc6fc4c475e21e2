/** Reads from the exchange or the companion, and reads again when a change arrives. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Session, useSession } from '../session/session.ts';

/**
 * Reads something that belongs to a collection, such as `measurements`. The page reads it again when a resource of that
 * collection changes. `key` tells different reads of one collection apart.
 */
export function useResource<T>(
  collection: string,
  key: readonly unknown[],
  read: (session: Session, signal: AbortSignal) => Promise<T>,
  options: { enabled?: boolean; refetchInterval?: number; staleTime?: number } = {},
): UseQueryResult<T> {
  const session = useSession();
  return useQuery({
    queryKey: [session.principal, collection, ...key],
    queryFn: ({ signal }) => read(session, signal),
    ...options,
  });
}
