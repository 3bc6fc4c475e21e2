/** Reads a report with the party's keys, and keeps it up to date while it runs. */
import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import type { OpenedReport } from '../../../companion/methods.ts';
import { useSession } from '../../../session/session.ts';

/**
 * The polling intervals: RUNNING_MS while the report runs on this machine, and ELSEWHERE_MS while it runs elsewhere.
 * Polling is necessary, because the change feed does not report a run's progress. It also reports no change of the
 * report when one of the report's measurements ends.
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
