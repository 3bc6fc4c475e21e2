import type { PartySummary } from '@measurement-exchange/contract';
import { type UseQueryResult, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { useSession } from '../session/session.ts';
import { onChange } from './live.ts';
import { useResource } from './useResource.ts';

/** The delay between a change and the next read. A summary counts all the party's resources, so a read is expensive. */
const WAIT_MS = 3_000;
const REFRESH_MS = 60_000;

/** Reads the party's summary: counts by state, and resources that need attention. The operator has no summary. */
export function useSummary(): UseQueryResult<PartySummary> {
  const { role } = useSession();
  return useResource(
    'summary',
    [],
    ({ client, principal }, signal) => client.getPartySummary({ name: principal, signal }),
    { enabled: role !== 'operator', refetchInterval: REFRESH_MS },
  );
}

/**
 * Reads the summary again after changes. Only `Shell` calls this hook, because one read updates all components that
 * show the summary.
 */
export function useSummaryAgain(): void {
  const { principal } = useSession();
  const queries = useQueryClient();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const read = () => {
      timer = undefined;
      void queries.invalidateQueries({ queryKey: [principal, 'summary'] });
    };
    const end = onChange(() => {
      timer ??= setTimeout(read, WAIT_MS);
    });
    return () => {
      clearTimeout(timer);
      end();
    };
  }, [queries, principal]);
}
