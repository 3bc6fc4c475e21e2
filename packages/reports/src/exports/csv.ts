/** Writes a report as CSV (RFC 4180), with one row for each number and one row for each missing figure. */
import type { Group } from '../needs/need.ts';
import type { DocumentPlace, DocumentValue, ReportDocument } from './document.ts';

const COLUMNS = [
  ...['figure', 'of', 'start', 'end', 'group', 'frequency'],
  ...['value', 'low', 'high', 'raw', 'standardDeviation', 'state', 'reason'],
] as const;

type Row = Partial<Record<(typeof COLUMNS)[number], string | number>>;

export function toReportCsv(document: ReportDocument): string {
  const rows: Row[] = [
    ...document.figures.flatMap((figure) => {
      const { metric, estimate, frequencies = [], missing } = figure;
      const place = cellsOf(figure);
      if (estimate === undefined) {
        const reasons = missing.map(({ measurement, state, reason }) =>
          [measurement, state, reason].filter((word) => word !== undefined).join(': '),
        );
        return [{ figure: metric, ...place, state: 'MISSING', reason: reasons.join('; ') }];
      }
      return [
        { figure: metric, ...place, ...numbersOf(estimate) },
        ...frequencies.flatMap(({ frequency, people, orMore }) => [
          { figure: 'people at frequency', ...place, frequency, ...numbersOf(people) },
          { figure: 'people at frequency or more', ...place, frequency, ...numbersOf(orMore) },
        ]),
      ];
    }),
    ...document.derived.map(({ name, value, noiseDominated, ...place }) => ({
      ...{
        figure: name,
        ...cellsOf(place),
        ...numbersOf({ ...value, ...(noiseDominated && { noiseDominated }) }),
      },
    })),
  ];
  const lines = rows.map((row) => COLUMNS.map((column) => cell(row[column] ?? '')).join(','));
  return `${[COLUMNS.join(','), ...lines].join('\r\n')}\r\n`;
}

function cellsOf({ of, period, group }: DocumentPlace): Row {
  return { of, start: period.start, end: period.end, group: groupText(group) };
}

function numbersOf({
  value,
  low,
  high,
  ...more
}: DocumentValue & { raw?: number; standardDeviation?: number; noiseDominated?: boolean }): Row {
  const { raw = '', standardDeviation = '', noiseDominated = false } = more;
  return { value, low, high, raw, standardDeviation, state: noiseDominated ? 'NOISE_DOMINATED' : 'OK' };
}

/** Returns a group as readable text, such as `sex F, age 18-34`. The text is empty if the group is everybody. */
export function groupText(group: Group): string {
  return Object.entries(group)
    .map(([attribute, value]) => `${attribute} ${value}`)
    .join(', ');
}

/** Quotes a cell if needed. A leading apostrophe keeps spreadsheets from evaluating a text as a formula. */
function cell(value: string | number): string {
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) ? `'${value}` : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
