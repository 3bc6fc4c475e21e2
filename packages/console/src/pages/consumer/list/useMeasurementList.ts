/**
 * A list of measurements, newest first. It reads pages as the user scrolls. After a change, it reads only the changed
 * rows.
 */
import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useMemo, useState } from 'react';
import { useChangedNames } from '../../../live/useChangedNames.ts';
import { useSession } from '../../../session/session.ts';
import { type Filter, merged, type Row, rowOf } from './rows.ts';

const PAGE_SIZE = 50;
const MAX_BATCH = 50;
/** If more measurements than this change at once, the list starts again with its first page. */
const MAX_CHANGED = 200;
/** A list with more pages than this starts again with its first page when the user returns to it. */
const MAX_PAGES_AGAIN = 20;

export interface MeasurementList {
  rows: Row[] | undefined;
  error: Error | null;
  isComplete: boolean;
  readMore: () => void;
  readAgain: () => void;
  readAt: number;
}

export function useMeasurementList(filter: Filter): MeasurementList {
  const { client, principal } = useSession();
  const queries = useQueryClient();
  const queryKey = ['measurementPages', principal, filter];
  const [changed, setChanged] = useState<ReadonlyMap<string, Row>>(new Map());
  useState(() => {
    const earlier = queries.getQueryData<{ pages: unknown[] }>(queryKey);
    if (earlier && earlier.pages.length > MAX_PAGES_AGAIN) queries.removeQueries({ queryKey });
  });
  const pages = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => {
      const listing = client.listMeasurements({
        parent: principal,
        pageSize: PAGE_SIZE,
        orderBy: 'createTime desc',
        'filter.states': filter.states,
        'filter.measurementReferenceId': filter.reference,
        pageToken: pageParam,
        signal,
      });
      const { measurements, nextPageToken } = await listing.page();
      return { rows: measurements.map(rowOf), nextPageToken };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextPageToken }) => nextPageToken,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnMount: 'always',
  });
  const startAgain = () => {
    setChanged(new Map());
    void queries.resetQueries({ queryKey });
  };
  useChangedNames('measurements', async (names) => {
    if (names === undefined || names.length > MAX_CHANGED) return startAgain();
    try {
      const rows = await readRows(names);
      setChanged((before) => new Map([...before, ...rows.map((row) => [row.name, row] as const)]));
    } catch {
      // Read the loaded pages again instead, so that no change is lost. If that fails, the page shows the error.
      setChanged(new Map());
      void pages.refetch();
    }
  });
  async function readRows(names: string[]): Promise<Row[]> {
    const rows: Row[] = [];
    for (let i = 0; i < names.length; i += MAX_BATCH) {
      const body = { names: names.slice(i, i + MAX_BATCH) };
      const { measurements } = await client.batchGetMeasurements({ parent: principal, body });
      rows.push(...measurements.map(rowOf));
    }
    return rows;
  }
  const isComplete = pages.data !== undefined && !pages.hasNextPage;
  const rows = useMemo(
    () =>
      pages.data &&
      merged(
        pages.data.pages.flatMap((page) => page.rows),
        changed,
        { states: filter.states, reference: filter.reference },
        isComplete,
      ),
    [pages.data, changed, filter.states, filter.reference, isComplete],
  );
  return {
    rows,
    error: pages.error,
    isComplete,
    readMore: () => void (pages.hasNextPage && !pages.isFetching && pages.fetchNextPage()),
    readAgain: () => void pages.refetch(),
    readAt: pages.dataUpdatedAt,
  };
}
