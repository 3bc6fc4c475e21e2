/** Prints a measurement's plan before the measurement is created, and describes invalid filters. */
import type { FilterRejected, MeasurementPlan, RejectedFilter } from '@measurement-exchange/sdk';
import { count, percent } from '../terminal/numbers.ts';
import { note, paint, visible } from '../terminal/output.ts';

/** Prints the plan to standard error, so that scripts do not read it as output. */
export function notePlan(plan: MeasurementPlan): void {
  for (const line of planLines(plan)) note(line);
}

function planLines(plan: MeasurementPlan): string[] {
  const { protocol, duchies, findings, warnings } = plan;
  const [aggregator, ...workers] = duchies;
  const by = aggregator
    ? `, computed by ${aggregator} with ${workers.join(' and ')}`
    : ', each provider alone';
  return [
    fact('protocol', `${protocol}${by}`),
    ...plan.figures.map((figure) => fact('expected', expectedText(figure))),
    ...chargeLines(plan),
    ...findings.map(({ code, field, message, remedy }) =>
      colored(fact('finding', `${code} at ${field}: ${message} ${remedy}`)),
    ),
    ...warnings.map((warning) => colored(fact('warning', warning))),
  ];
}

const colored = (line: string) => paint('yellow', line, process.stderr);
const fact = (label: string, text: string) => `  ${label.padEnd(8)}  ${visible(text)}`;

const LABELS = {
  reach: 'reach',
  frequencyShare: 'each share of the frequencies',
  impressions: 'impressions',
  watchDurationSeconds: 'watch duration',
  population: 'population',
};

function expectedText({ figure, margin, assumed }: MeasurementPlan['figures'][number]): string {
  const label = LABELS[figure];
  if (margin === 0) return `${label}: counted, without noise`;
  const seconds = figure === 'watchDurationSeconds' ? ' s' : '';
  const size = margin === undefined ? '?' : figure === 'frequencyShare' ? shares(margin) : people(margin);
  const condition = figure === 'frequencyShare' ? 'if the reach is' : 'if it is';
  const at = assumed === undefined ? '' : `, ${condition} ${count(assumed)}; --expect for another`;
  return `${label} ± ${size}${seconds} (95 %${at})`;
}

const shares = (margin: number) => (margin < 0.0001 ? 'less than 0.01 %' : percent(margin));
const people = (margin: number) => (margin < 10 ? String(Number(margin.toPrecision(2))) : count(margin));

/** Formats the charges to the providers' budgets. Providers with the same charge and number of days share a line. */
function chargeLines({ dataProviders }: MeasurementPlan): string[] {
  const lines = new Map<string, string[]>();
  for (const { name, days, charge } of dataProviders) {
    if (charge === undefined || days === 0) continue;
    const amounts = Object.entries(charge).map(([measure, amount]) => `${measure} ${short(amount)}`);
    const each =
      days === 1 ? 'for each event group, 1 day' : `for each event group and day, ${count(days)} days`;
    const text = `${amounts.join(', ') || 'nothing'} ${each}`;
    lines.set(text, [...(lines.get(text) ?? []), name]);
  }
  return [...lines].map(([text, names]) => fact('charge', `${names.join(', ')}: ${text}`));
}

const short = (amount: number) => String(Number(amount.toPrecision(3)));

/** Formats each invalid filter once, with a caret under the column of the problem. */
export function filterText({ filters }: FilterRejected): string {
  const shown = new Map<string, RejectedFilter[]>();
  for (const rejected of filters) {
    const text = pointedAt(rejected);
    shown.set(text, [...(shown.get(text) ?? []), rejected]);
  }
  const blocks = [...shown].map(([text, rejected]) => {
    const places = rejected.map(
      ({ dataProvider, eventGroup }) => eventGroup ?? `the population of ${dataProvider}`,
    );
    const more = places.length > MAX_PLACES ? ` and ${places.length - MAX_PLACES} more` : '';
    return `The filter of ${places.slice(0, MAX_PLACES).join(', ')}${more} cannot be used:\n${text}`;
  });
  return `${blocks.join('\n')} Nothing was created.`;
}

const MAX_PLACES = 5;

function pointedAt({ filter, message, position, suggestion }: RejectedFilter): string {
  const meant = suggestion === undefined ? '' : ` Did you mean ${suggestion}?`;
  const sentence = `  ${visible(message)}.${meant}`;
  if (position === undefined) return sentence;
  const line = filter.split('\n')[position.line - 1] ?? '';
  const { text, caret } = excerpt(line, position.column - 1);
  return `    ${text}\n    ${' '.repeat(caret)}^\n  line ${position.line}, column ${position.column}:${sentence.slice(1)}`;
}

const AROUND = 60;

/**
 * Shortens a long line to the part around the caret. Counts the caret position in code points, because a code point
 * above U+FFFF has two UTF-16 code units but takes one column.
 */
function excerpt(line: string, offset: number): { text: string; caret: number } {
  const before = [...visible(line.slice(Math.max(0, offset - AROUND), offset))];
  const after = visible(line.slice(offset, offset + AROUND));
  const cutBefore = offset > AROUND ? '…' : '';
  const cutAfter = line.length > offset + AROUND ? '…' : '';
  return {
    text: `${cutBefore}${before.join('')}${after}${cutAfter}`,
    caret: before.length + cutBefore.length,
  };
}
