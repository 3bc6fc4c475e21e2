/** Reads a list page by page as the user scrolls. Reads it again when something in the list changes. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Session, useSession } from '../session/session.ts';
import { useChangedNames } from './useChangedNames.ts';

/**
 * After a change, a list with at most this many pages is read again automatically. A longer list is read again only if
 * the user asks, because all its pages must be read.
 */
const MAX_PAGES_AGAIN = 5;

export interface Pages<Row> {
  rows: Row[] | undefined;
  error: Error | null;
  isComplete: boolean;
  isStale: boolean;
  readMore: () => void;
  readAgain: () => void;
}

/** `key` distinguishes lists of the same collection. */
export function usePages<Row>(
  collection: string,
  key: readonly unknown[],
  readPage: (
    session: Session,
    page: { pageToken: string | undefined; signal: AbortSignal },
  ) => Promise<{ rows: Row[]; nextPageToken?: string | undefined }>,
): Pages<Row> {
  const session = useSession();
  const [isStale, setStale] = useState(false);
  const pages = useInfiniteQuery({
    queryKey: ['pages', session.principal, collection, ...key],
    queryFn: ({ pageParam, signal }) => readPage(session, { pageToken: pageParam, signal }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextPageToken }) => nextPageToken,
    // Read again on every mount, because changes are followed only while the list is shown.
    refetchOnMount: 'always',
  });
  const readAgain = useCoalesced(async () => {
    setStale(false);
    await pages.refetch();
  });
  useChangedNames(collection, () => {
    if ((pages.data?.pages.length ?? 0) > MAX_PAGES_AGAIN) setStale(true);
    else readAgain();
  });
  return {
    rows: pages.data?.pages.flatMap(({ rows }) => rows),
    error: pages.error,
    isComplete: pages.data !== undefined && !pages.hasNextPage,
    isStale,
    readMore: () => void (pages.hasNextPage && !pages.isFetching && pages.fetchNextPage()),
    readAgain,
  };
}

/** Returns a function that runs `work`. All calls during a run cause one more run afterwards. */
function useCoalesced(work: () => Promise<unknown>): () => void {
  const state = useRef<'idle' | 'running' | 'again'>('idle');
  const latest = useRef(work);
  latest.current = work;
  return async () => {
    if (state.current !== 'idle') {
      state.current = 'again';
      return;
    }
    do {
      state.current = 'running';
      await latest.current();
    } while ((state.current as string) === 'again');
    state.current = 'idle';
  };
}
