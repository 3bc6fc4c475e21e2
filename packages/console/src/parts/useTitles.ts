import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useSession } from '../session/session.ts';

/**
 * Searches the titles of measurements with the companion, because only the companion can decrypt them. An empty text
 * matches every title. A call may return before all titles are searched. The page therefore calls the companion up to
 * 10 times, and each call continues with older titles.
 */
export function useTitles(text: string, limit: number, enabled: boolean) {
  const { companion, principal, role } = useSession();
  return useQuery({
    queryKey: [principal, 'titles', text, limit],
    queryFn: ({ signal }) => companion!.searchTitles({ text, limit }, { signal }),
    enabled: enabled && companion !== undefined && role === 'consumer',
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data, dataUpdateCount } }) =>
      data && !data.isComplete && data.matches.length < limit && dataUpdateCount < 10 ? 200 : false,
  });
}
