/** Converts the figures of a demo report to CSV (RFC 4180), for a spreadsheet or a notebook. */
import { toCsv } from '@measurement-exchange/console/charts';
import { type DemoReport, truthIs } from './figures.ts';

const COLUMNS = [
  ...['measurement', 'title', 'protocol', 'provider', 'figure', 'truth', 'result', 'standard_deviation'],
  ...['low_95', 'high_95', 'truth_is', 'added_up'],
];

/** Returns the CSV text. `high_95` is empty if the interval has no upper end. Shares are fractions, not percentages. */
export function renderCsv({ measurements }: DemoReport): string {
  const rows = measurements.flatMap(({ name, title, protocol, figures }) =>
    figures.map((figure) => {
      const { of, what, truth, result, claimed } = figure;
      const { value, standardDeviation, interval } = result;
      return [
        ...[name, title, protocol ?? 'direct', of, what, truth, value, standardDeviation],
        ...[...interval.map((end) => (Number.isFinite(end) ? end : '')), truthIs(figure), claimed ?? ''],
      ];
    }),
  );
  return toCsv({ columns: COLUMNS, rows });
}
