/** Prints a report as readable text: figures with their intervals, and the reasons for missing figures. */
import {
  type DerivedFigure,
  type DerivedName,
  type DocumentFigure,
  type DocumentPlace,
  type DocumentValue,
  groupText,
  type ReportDocument,
} from '@measurement-exchange/reports';
import { bar, terminalColumns } from '../terminal/chart.ts';
import { count } from '../terminal/numbers.ts';
import { paint, print, visible } from '../terminal/output.ts';
import { dayText, metricWord, periodText, textFor } from './labels.ts';

interface Line {
  label: string;
  value: DocumentValue | undefined;
  text: (value: number) => string;
  note?: string;
}

export function printReport(document: ReportDocument, name: string): void {
  const { title, interval, state, population, figures } = document;
  print(`${paint('bold', visible(title))}  ${paint(state === 'COMPLETE' ? 'green' : 'yellow', state)}`);
  const of = population === undefined ? '' : `, ${count(population)} people`;
  print(`  ${interval.start} to ${interval.end} (${interval.timeZone})${of}\n  ${name}`);
  for (const [heading, section] of Map.groupBy(figures, headingOf)) {
    printSection(heading, section.map(figureLine));
    for (const figure of section) if (figure.frequencies) printFrequencies(figure);
  }
  for (const derived of DERIVED) printDerived(document, derived);
  printFit(document);
  printMissing(document);
}

function headingOf({ metric, cumulative, period }: DocumentFigure): string {
  const what = `${cumulative ? 'cumulative ' : ''}${metricWord(metric)}`;
  return cumulative ? `${what}, from ${dayText(period.start)}` : `${what}, ${periodText(period)}`;
}

function figureLine({ cumulative, of, period, group, estimate, missing }: DocumentFigure): Line {
  const until = cumulative ? `to ${dayText(period.end)}` : '';
  const label = [of, until, groupText(group)].filter((part) => part !== '').join(', ');
  const note = estimate?.noiseDominated ? 'mostly noise' : undefined;
  const why = missing.length > 0 ? 'missing, see below' : undefined;
  return { label, value: estimate, text: count, ...((note ?? why) && { note: (note ?? why)! }) };
}

function printFrequencies({ of, frequencies = [] }: DocumentFigure): void {
  const last = frequencies.length;
  printSection(
    `people of ${of} by how often they were reached`,
    frequencies.map(({ frequency, people }) => ({
      ...{ label: frequency === last ? `${frequency}+` : String(frequency), value: people, text: count },
    })),
  );
}

const DERIVED: { name: DerivedName; heading: string }[] = [
  { name: 'overlap', heading: 'people of exactly these segments' },
  { name: 'incremental reach', heading: 'people that no segment above reached' },
  { name: 'average frequency', heading: 'impressions per person reached' },
  { name: 'gross rating points', heading: 'gross rating points' },
  { name: 'percent of population', heading: 'percent of the population' },
];

function printDerived(
  { derived, figures }: ReportDocument,
  { name, heading }: (typeof DERIVED)[number],
): void {
  // Print only the longest periods, because printing every week would fill pages. Exports contain all periods.
  const longest = Math.max(...figures.map(lengthOf));
  const own = derived.filter((figure) => figure.name === name && lengthOf(figure) === longest);
  const sections = Map.groupBy(own, ({ period, group }) =>
    [heading, periodText(period), groupText(group)].filter((part) => part !== '').join(', '),
  );
  for (const [title, figures] of sections) {
    printSection(
      title,
      figures.map(({ of, value, noiseDominated }: DerivedFigure) => ({
        ...{ label: of, value, text: textFor(name, value), ...(noiseDominated && { note: 'mostly noise' }) },
      })),
    );
  }
}

function lengthOf({ period }: DocumentPlace): number {
  return Date.parse(period.end) - Date.parse(period.start);
}

const BAR = 16;

function printSection(heading: string, lines: Line[]): void {
  print(`\n${paint('bold', visible(heading))}`);
  const labels = lines.map(({ label }) => visible(label));
  const width = Math.min(Math.max(...labels.map(({ length }) => length)), 48);
  const values = lines.map(({ value, text }) => (value === undefined ? '–' : text(value.value)));
  const numbers = Math.max(...values.map(({ length }) => length));
  const largest = Math.max(...lines.map(({ value }) => value?.value ?? 0), Number.MIN_VALUE);
  // Leave out the bars if a line with a bar would be wider than the terminal.
  const bars = terminalColumns() >= width + numbers + BAR + 36 ? BAR : 0;
  for (const [i, { value, text, note }] of lines.entries()) {
    const drawn = bars > 0 ? `${bar((value?.value ?? 0) / largest, bars).padEnd(bars)}  ` : '';
    const interval = value === undefined ? '' : `95 %: ${text(value.low)} to ${text(value.high)}`;
    const words = [interval, note && paint('yellow', note)].filter((word) => word).join('  ');
    print(`  ${labels[i]!.padEnd(width)}  ${drawn}${values[i]!.padStart(numbers)}  ${words}`.trimEnd());
  }
}

function printFit({ fits }: ReportDocument): void {
  const [worst] = fits;
  if (worst === undefined) return;
  const { p, state, suspect } = worst;
  print('');
  if (state === 'CONSISTENT') {
    print(`The answers agree with each other (worst fit: p = ${p.toPrecision(2)}).`);
    return;
  }
  const whose = suspect ? ` Most likely at fault: the answer of ${suspect.dataProviders.join(', ')}.` : '';
  print(
    paint(
      'red',
      `The answers contradict each other: noise alone does it once in ${count(1 / p)} times.${whose}`,
    ),
  );
}

const MISSING_WORDS: Record<string, string> = {
  AWAITING_REQUISITION_FULFILLMENT: 'waits for its publishers',
  COMPUTING: 'is being computed by the duchies',
  FAILED: 'failed',
  CANCELLED: 'was cancelled',
  REJECTED: 'its result was rejected',
  NOT_CREATED: 'could not be asked',
  NOT_DUE: 'cannot be asked yet',
  NOT_ASKED: 'not asked yet',
};

function printMissing({ figures }: ReportDocument): void {
  const all = figures.flatMap(({ missing }) => missing);
  if (all.length === 0) return;
  const reasons = new Set(
    all.map(({ measurement, state, reason }) =>
      [measurement, MISSING_WORDS[state] ?? state, reason].filter((part) => part !== undefined).join(': '),
    ),
  );
  print(`\n${paint('bold', 'Missing')}`);
  for (const reason of reasons) print(paint('yellow', `  ${visible(reason)}`));
}
