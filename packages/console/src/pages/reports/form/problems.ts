/** Finds the problems that belong to one part of the form. */
import type { PlannedReport } from './useReportPlan.ts';

/** Returns the problems of the part at `path`, and of the parts inside it. Returns none until the plan is current. */
export function problemsAt({ problems = [], isCurrent }: PlannedReport, path: string): string[] {
  if (!isCurrent) return [];
  return problems
    .filter(({ field }) => field === path || field.startsWith(`${path}.`) || field.startsWith(`${path}[`))
    .map(({ description }) => sentence(description));
}

export const sentence = (text: string) =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
