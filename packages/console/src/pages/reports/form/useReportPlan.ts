/** Plans a report while the user fills in the form. Nothing is sent to publishers. */
import type { ReportDefinition } from '@measurement-exchange/reports';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import type { PlannedReportView } from '../../../companion/methods.ts';
import { useSession } from '../../../session/session.ts';
import { useSettled } from '../../ask/form/usePlan.ts';

export interface PlannedReport extends Partial<PlannedReportView> {
  error: Error | null;
  /** True if the plan or the error belongs to the current state of the form. */
  isCurrent: boolean;
  retry: () => void;
}

/** The report is planned when the form has not changed for this long. */
const PLAN_AFTER_MS = 300;

export function useReportPlan(definition: ReportDefinition | undefined): PlannedReport {
  const { companion, principal } = useSession();
  // Use a fixed title in the key, because the title does not affect the plan.
  const key = definition && JSON.stringify({ ...definition, title: 'Report' });
  const settled = useSettled(key, PLAN_AFTER_MS);
  const { data, error, isPlaceholderData, refetch } = useQuery({
    queryKey: [principal, 'report plans', settled],
    queryFn: ({ signal }) => companion!.planReport({ definition: JSON.parse(settled!) }, { signal }),
    enabled: settled !== undefined,
    placeholderData: keepPreviousData,
    retry: false,
    staleTime: 60_000,
    // Do not keep old plans. Another report may have run since a plan was made, and a new plan can reuse the answers of
    // that report.
    gcTime: 0,
  });
  const isCurrent = key !== undefined && key === settled && !isPlaceholderData;
  return {
    ...data,
    error,
    isCurrent: isCurrent && (data !== undefined || error !== null),
    retry: () => void refetch(),
  };
}
