/** Reads a list page by page, as the reader scrolls, and reads it again when something in it changes. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { type Session, useSession } from '../session/session.ts';
import { useChangedNames } from './useChangedNames.ts';

/** A longer list is read again only when the reader wants it, because all of its pages would be read. */
const MAX_PAGES_AGAIN = 5;

export interface Pages<Row> {
  rows: Row[] | undefined;
  error: Error | null;
  isComplete: boolean;
  /** Whether something has changed since the list was read. */
  isStale: boolean;
  readMore: () => void;
  readAgain: () => void;
}

/** `key` tells different lists of one collection apart. */
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
    // Changes are followed only while the list is shown.
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

/** Returns a function that runs the work. Calls while it runs become one more run at its end. */
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
