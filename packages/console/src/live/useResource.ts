/** Reads data from the exchange or the companion, and reads it again when a change arrives. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { type Session, useSession } from '../session/session.ts';

/**
 * Reads data of a collection, such as `measurements`, and reads it again when a resource in the collection changes.
 * `key` distinguishes reads of the same collection.
 */
export function useResource<T>(
  collection: string,
  key: readonly unknown[],
  read: (session: Session, signal: AbortSignal) => Promise<T>,
  options: {
    enabled?: boolean;
    refetchInterval?: number | ((query: { state: { data: T | undefined } }) => number | false);
    staleTime?: number;
  } = {},
): UseQueryResult<T> {
  const session = useSession();
  return useQuery({
    queryKey: [session.principal, collection, ...key],
    queryFn: ({ signal }) => read(session, signal),
    ...options,
  });
}
