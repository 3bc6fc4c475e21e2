import { type UseQueryResult, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { onChange } from '../../../live/live.ts';
import { useSession } from '../../../session/session.ts';
import { type Feed, readFeed } from './feed.ts';

const COLLECT_MS = 50;

export function useFeed(): UseQueryResult<Feed> {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const key = ['feed', principal];
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key depends on the principal alone
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      timer = undefined;
      void queries.invalidateQueries({ queryKey: key });
    };
    const end = onChange(() => {
      timer ??= setTimeout(read, COLLECT_MS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [queries, principal]);
  return useQuery({
    queryKey: key,
    queryFn: ({ signal }) => readFeed(client, principal, queries.getQueryData<Feed>(key), signal),
  });
}
