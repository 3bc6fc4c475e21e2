/** The React props that all parts of a report's page share. */
import type { SizeOf } from '../../../reports/charts.ts';
import type { ReportView } from '../../../reports/types.ts';
import type { Label } from '../../../reports/words.ts';

export interface Shown {
  view: ReportView;
  /** One label for each segment. */
  labels: readonly Label[];
  nameOf: (party: string) => string;
  /** Returns the number of people in a group of the population. */
  sizeOf?: SizeOf | undefined;
}

export type Labeled = Pick<Shown, 'view' | 'labels'>;
