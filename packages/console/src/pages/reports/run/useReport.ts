/** Reads a report with the party's keys, and keeps it up to date while it runs. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { OpenedReport } from '../../../companion/methods.ts';
import { useSession } from '../../../session/session.ts';

/**
 * The polling intervals while the report runs on this machine or elsewhere. Polling is necessary, because the change
 * feed contains no change of the report when a run on this machine progresses, or when one of its measurements ends.
 */
const RUNNING_MS = 700;
const ELSEWHERE_MS = 5000;

export function useReport(name: string): UseQueryResult<OpenedReport> {
  const { companion, principal } = useSession();
  return useQuery({
    queryKey: [principal, 'reports', 'one', name],
    queryFn: ({ signal }) => companion!.report({ name }, { signal }),
    enabled: companion !== undefined,
    refetchInterval: ({ state: { data } }) =>
      data?.isRunning ? RUNNING_MS : data?.state === 'RUNNING' ? ELSEWHERE_MS : false,
  });
}
