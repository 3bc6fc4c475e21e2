/** Prints a result: figures for each provider, or for all of them together, with 95% intervals. */
import { wordsOf } from '@measurement-exchange/contract';
import type { DeduplicatedFigures, Estimate, Figures, MeasurementResult } from '@measurement-exchange/sdk';
import { barChart, terminalColumns } from '../terminal/chart.ts';
import { count, percent } from '../terminal/numbers.ts';
import { paint, print, visible } from '../terminal/output.ts';

const LABELS = {
  reach: 'reach',
  impressions: 'impressions',
  watchDurationSeconds: 'watch duration',
  population: 'population',
} as const;
const WIDTH = Math.max(...Object.values(LABELS).map((label) => label.length));

export type TitledResult = MeasurementResult & { title?: string };

export function printResult(result: TitledResult): void {
  print('');
  if (result.title !== undefined) print(`${paint('bold', visible(result.title))}\n`);
  const { deduplicated } = result.total;
  if (deduplicated !== undefined) {
    printDeduplicated(result, deduplicated);
    return;
  }
  for (const { name, ...figures } of result.dataProviders) {
    printFigures(name, figures);
    print(paint('dim', `  ${visible(howComputed(figures))}`));
    print('');
  }
  if (result.dataProviders.length > 1) for (const line of totalLines(result)) print(line);
}

function printDeduplicated({ dataProviders }: MeasurementResult, figures: DeduplicatedFigures): void {
  const { aggregator, workers } = figures;
  printFigures(`all ${dataProviders.length} providers, everybody counted once`, figures);
  print(paint('dim', `  of ${dataProviders.map(({ name }) => name).join(', ')}`));
  print(paint('dim', `  ${visible(howComputed(figures))}`));
  print(paint('dim', `  computed by ${aggregator} with ${workers.join(' and ')}`));
  print('');
}

function printFigures(title: string, figures: Figures): void {
  print(paint('bold', title));
  for (const member of Object.keys(LABELS) as (keyof typeof LABELS)[]) {
    if (figures[member]) print(`  ${figureLine(member, figures[member])}`);
  }
  for (const line of frequencyLines(figures)) print(line);
}

function figureLine(member: keyof typeof LABELS, estimate: Estimate): string {
  const show = member === 'watchDurationSeconds' ? hours : count;
  const value = paint('green', show(estimate.value));
  return `${LABELS[member].padEnd(WIDTH)}  ${value}   ${intervalText(estimate, show)}`;
}

function intervalText(
  { interval: [low, high], variance }: Estimate,
  show: (value: number) => string,
): string {
  if (!Number.isFinite(variance)) return '(how far it may be off cannot be told)';
  if (variance === 0) return '(counted, without noise)';
  if (!Number.isFinite(high)) return `95 %: ${show(low)} or more`;
  return `95 %: ${show(low)} to ${show(high)}`;
}

function frequencyLines({ frequency }: Figures): string[] {
  if (frequency === undefined) return [];
  if (frequency.length === 0) return ['  times seen: nobody was counted, so there is no distribution'];
  const shares = frequency.map(({ share }) => percent(share.value));
  const people = frequency.map(({ count: { value } }) => count(value));
  const widths = [shares, people].map((texts) => Math.max(...texts.map((text) => text.length)));
  const bars = frequency.map(({ frequency: k, share }, i) => ({
    label: `${k}${i === frequency.length - 1 ? '+' : ''}`,
    value: share.value,
    text: `${shares[i]!.padStart(widths[0]!)} ${margin(share)}  ${people[i]!.padStart(widths[1]!)}`,
  }));
  return ['  times seen: share of those reached, ± 95 %, people', ...barChart(bars, terminalColumns())];
}

function margin({ standardDeviation, value, interval }: Estimate): string {
  if (!Number.isFinite(standardDeviation)) return '± ?'.padEnd(8);
  return `± ${percent(Math.max(interval[1] - value, value - interval[0]))}`.padEnd(8);
}

function totalLines({ dataProviders, total, type }: MeasurementResult): string[] {
  const lines = [paint('bold', `all ${dataProviders.length} providers`)];
  if (total.impressions) lines.push(`  ${figureLine('impressions', total.impressions)}`);
  if (total.watchDurationSeconds)
    lines.push(`  ${figureLine('watchDurationSeconds', total.watchDurationSeconds)}`);
  if (total.reach) {
    const [max, sum] = total.reach.bounds;
    const bounds = `between ${paint('green', count(max))} and ${paint('green', count(sum))}`;
    lines.push(`  ${LABELS.reach.padEnd(WIDTH)}  ${bounds}`, ...wrapped(total.reach.note));
  }
  // For a population measurement, print no total, because all providers count the same people.
  return type === 'population' ? [] : [...lines, ''];
}

function wrapped(text: string): string[] {
  const width = Math.min(terminalColumns(), 100) - 2;
  const lines = [''];
  for (const word of text.split(' ')) {
    const line = `${lines.at(-1)} ${word}`.trimStart();
    if (line.length <= width) lines[lines.length - 1] = line;
    else lines.push(word);
  }
  return lines.map((line) => `  ${line}`);
}

const NOISE: Record<string, string> = {
  GEOMETRIC: 'geometric noise (discrete Laplace)',
  DISCRETE_GAUSSIAN: 'discrete Gaussian noise',
  NONE: 'no noise',
};

function howComputed({ noiseMechanism, methodology }: Figures): string {
  const noise = noiseMechanism === undefined ? 'noise not named' : (NOISE[noiseMechanism] ?? noiseMechanism);
  const method = methodology === undefined ? 'method not named' : wordsOf(methodology);
  return `${method}, ${noise}; signature and certificate verified`;
}

function hours(seconds: number): string {
  if (seconds < 7200) return `${count(seconds)} s`;
  const digits = { maximumFractionDigits: 1, minimumFractionDigits: 1 };
  return `${(seconds / 3600).toLocaleString('en-US', digits)} h`;
}
