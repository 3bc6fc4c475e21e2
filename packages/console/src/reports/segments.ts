/** The segments of a definition, with their publishers. */
import type { ReportDefinition } from '@measurement-exchange/reports';
import type { SegmentView } from './types.ts';

export function segmentsOf({ segments }: Pick<ReportDefinition, 'segments'>): SegmentView[] {
  return Object.entries(segments).map(([name, { eventGroups, filter }]) => ({
    name,
    eventGroups,
    dataProviders: [...new Set(eventGroups.map((group) => group.split('/').slice(0, 2).join('/')))],
    ...(filter !== undefined && { filter }),
  }));
}
