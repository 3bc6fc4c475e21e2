/** The state of the form of a new report. The report is planned as the user fills in the form. */
import type { ReportDefinition } from '@measurement-exchange/reports';
import { useMemo, useState } from 'react';
import { listed } from '../../../parts/names.ts';
import type { Catalogue } from '../../ask/form/catalogue.ts';
import { type Picking, usePicking } from '../../ask/form/usePicking.ts';
import { definitionOf, type FormSegment, nameProblems, type ReportForm, segmentsOf } from './definition.ts';
import { type PlannedReport, useReportPlan } from './useReportPlan.ts';

export interface Defining extends Picking {
  form: ReportForm;
  change: (part: Partial<ReportForm>) => void;
  segments: readonly FormSegment[];
  suggestedTitle: string;
  /** Undefined until event groups are picked, and the filter is checked and valid. */
  definition: ReportDefinition | undefined;
  planned: PlannedReport;
}

export function useReportForm(catalogue: Catalogue, initial: ReportForm): Defining {
  const [form, setForm] = useState(initial);
  const change = (part: Partial<ReportForm>) => setForm((form) => ({ ...form, ...part }));
  const { isReady, ...picking } = usePicking(catalogue, form);
  const { picked, publishers, days } = picking;
  const segments = useMemo(() => segmentsOf(form, picked), [form, picked]);
  const suggestedTitle =
    publishers.length > 0 ? listed(publishers.map(({ label }) => label)).slice(0, 200) : '';
  const title = form.title.trim() || suggestedTitle;
  const definition = useMemo(
    () => (isReady ? definitionOf(form, { segments, days, title }) : undefined),
    [isReady, form, segments, days, title],
  );
  const problems = useMemo(() => nameProblems(form, segments), [form, segments]);
  const plan = useReportPlan(problems.length > 0 ? undefined : definition);
  const planned = problems.length > 0 ? { problems, error: null, isCurrent: true, retry: () => {} } : plan;
  return { ...picking, form, change, segments, suggestedTitle, definition, planned };
}
