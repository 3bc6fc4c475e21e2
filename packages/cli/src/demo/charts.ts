/** Draws the report's charts as SVG. Colors come from the page's CSS, which also supports dark mode. */
import { count, percent } from '../terminal/numbers.ts';

/** The width of each chart. It fits a phone, so that phones do not shrink the text. */
const WIDTH = 360;
const ROW = 44;

export interface Bar {
  label: string;
  value: number;
  interval: [low: number, high: number];
  truth: number;
}

/** Draws a bar for each figure, with its interval and a mark at the true value. */
export function barChart(title: string, bars: Bar[]): string {
  const x = scale(...bars.flatMap((bar) => [bar.interval[1], bar.truth]));
  const rows = bars.map((bar, i) => {
    const tipText = `${bar.label}: ${count(bar.value)}, ${intervalText(bar.interval)}, truth ${count(bar.truth)}`;
    return `<g>${tip(tipText)}${barMark(x, i, bar, 'bar', count(bar.value))}${whisker(x, i, bar.interval)}
      <path d="M${x(bar.truth)} ${rowAt(i) - 2}v22" class="truth"/></g>`;
  });
  return svg(title, 6 + rows.length * ROW, rows.join(''));
}

/** Draws the true figure, the measured figure for all providers together, and the sum of the providers' own figures. */
export function unionChart(
  title: string,
  { value, interval, truth, claimed }: Omit<Bar, 'label'> & { claimed: number },
): string {
  const x = scale(interval[1], truth, claimed);
  const rows = [
    barMark(x, 0, { label: 'truth', value: truth }, 'true', count(truth)),
    `<g>${tip(`counted once: ${count(value)}, ${intervalText(interval)}`)}
      ${barMark(x, 1, { label: 'counted once', value }, 'bar', count(value))}${whisker(x, 1, interval)}</g>`,
    barMark(
      x,
      2,
      { label: 'added up', value: claimed },
      'claimed',
      `${count(claimed)} (${signedPercent(claimed / truth - 1)})`,
    ),
  ];
  const marks = rows.map((_, i) => `<path d="M${x(truth)} ${rowAt(i) - 2}v22" class="truth"/>`);
  return svg(title, 6 + rows.length * ROW, rows.join('') + marks.join(''));
}

/** A share of the people. `claimed` is the share according to the sum of the providers' own figures. */
export type Share = Bar & { claimed?: number };

/** Draws a column for each frequency, with its interval and a mark at the true value. */
export function columnChart(title: string, shares: Share[]): string {
  const height = 150;
  const most = Math.max(...shares.flatMap((s) => [s.interval[1], s.truth, s.claimed ?? 0]), 0.01);
  const y = (share: number) => 10 + height * (1 - Math.max(share, 0) / most);
  const step = WIDTH / shares.length;
  const columns = shares.map((share, i) => {
    const x = step * 0.05 + i * step;
    const middle = x + step * 0.35;
    const [low, high] = share.interval.map(y) as [number, number];
    const { claimed } = share;
    const ghost =
      claimed === undefined
        ? ''
        : `<rect x="${x + step * 0.72}" y="${y(claimed)}" width="${step * 0.2}" height="${y(0) - y(claimed)}" class="claimed">${tip(`${share.label}: adding up would have claimed ${percent(claimed)}`)}</rect>`;
    return `<g>${tip(`${share.label}: ${percent(share.value)}, truth ${percent(share.truth)}`)}${ghost}
      <rect x="${x}" y="${y(share.value)}" width="${step * 0.7}" height="${y(0) - y(share.value)}" class="bar"/>
      <path d="M${middle - 5} ${low}h10m-5 0V${high}m-5 0h10" class="whisker"/>
      <path d="M${x} ${y(share.truth)}h${step * 0.7}" class="truth"/>
      <text x="${middle}" y="${y(0) + 16}" class="tick">${escapeHtml(share.label)}</text>
      <text x="${middle}" y="${Math.min(y(share.value), high) - 5}" class="tick">${Math.round(share.value * 100)} %</text></g>`;
  });
  return svg(title, height + 34, columns.join(''), -8);
}

export interface Lane {
  label: string;
  /** `from` and `to` are in milliseconds since the start of the first measurement. */
  spans: { state: string; from: number; to: number }[];
}

/** Draws each measurement's states over time, in a lane of its own. */
export function timelineChart(title: string, lanes: Lane[]): string {
  const last = Math.max(...lanes.flatMap((lane) => lane.spans.map((span) => span.to)), 1);
  const x = (ms: number) => 20 + (ms / last) * (WIDTH - 40);
  const rows = lanes.map((lane, i) => {
    const y = rowAt(i);
    const spans = lane.spans.map(
      ({ state, from, to }) =>
        `<rect x="${x(from)}" y="${y}" width="${Math.max(x(to) - x(from), 6)}" height="14" class="state ${state.toLowerCase()}">${tip(`${lane.label}: ${state}, ${seconds(from)} to ${seconds(to)}`)}</rect>`,
    );
    return `<text x="0" y="${y - 6}" class="label">${escapeHtml(lane.label)}</text>${spans.join('')}`;
  });
  const bottom = lanes.length * ROW;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (part) =>
      `<path d="M${x(last * part)} 0V${bottom}" class="grid"/><text x="${x(last * part)}" y="${bottom + 14}" class="tick">${seconds(last * part)}</text>`,
  );
  return svg(title, bottom + 20, ticks.join('') + rows.join(''));
}

/**
 * Draws a dot for each result, at its distance from the true value in standard deviations. The band should contain 95% of
 * the dots.
 */
export function deviationChart(
  title: string,
  deviations: { row: string; label: string; sigmas: number }[],
): string {
  const rows = [...new Set(deviations.map(({ row }) => row))];
  const bottom = 6 + rows.length * 26;
  const left = 95;
  const x = (sigmas: number) => left + ((Math.max(-5, Math.min(5, sigmas)) + 5) / 10) * (WIDTH - left - 6);
  const band = `<rect x="${x(-1.96)}" y="0" width="${x(1.96) - x(-1.96)}" height="${bottom}" class="range"/>`;
  const ticks = [-4, -2, 0, 2, 4].map(
    (at) =>
      `<path d="M${x(at)} 0V${bottom}" class="${at === 0 ? 'truth' : 'grid'}"/><text x="${x(at)}" y="${bottom + 14}" class="tick">${at === 0 ? 'truth' : `${at > 0 ? '+' : '−'}${Math.abs(at)} σ`}</text>`,
  );
  const labels = rows.map(
    (row, i) => `<text x="0" y="${6 + i * 26 + 13}" class="label">${escapeHtml(row)}</text>`,
  );
  const dots = deviations.map(
    ({ row, label, sigmas }) =>
      `<circle cx="${x(sigmas)}" cy="${6 + rows.indexOf(row) * 26 + 9}" r="5" class="dot">${tip(`${label}: ${sigmas.toFixed(2)} σ`)}</circle>`,
  );
  return svg(title, bottom + 20, band + ticks.join('') + labels.join('') + dots.join(''));
}

function svg(title: string, height: number, content: string, top = 0): string {
  return `<svg viewBox="0 ${top} ${WIDTH} ${height - top}" role="img" aria-label="${escapeHtml(title)}">${content}</svg>`;
}

type Scale = (value: number) => number;

/** Returns a function that maps a value to its x coordinate. Infinite values are at the end of the plot. */
function scale(...values: number[]): Scale {
  const most = Math.max(...values.filter(Number.isFinite), 1);
  return (value) => Math.min(1, Math.max(value, 0) / most) * (WIDTH - 4) + 2;
}

/** Returns the top of a row's bar. The label is above the bar. */
function rowAt(i: number): number {
  return 20 + i * ROW;
}

/** Draws a bar, with its label above it on the left, and its number on the right. */
function barMark(
  x: Scale,
  i: number,
  { label, value }: Pick<Bar, 'label' | 'value'>,
  style: string,
  number: string,
): string {
  const y = rowAt(i);
  return `<text x="2" y="${y - 6}" class="label">${escapeHtml(label)}</text><text x="${WIDTH - 2}" y="${y - 6}" class="value">${number}</text>
    <rect x="${x(0)}" y="${y}" width="${x(value) - x(0)}" height="18" class="${style}"/>`;
}

function whisker(x: Scale, i: number, [low, high]: Bar['interval']): string {
  return `<path d="M${x(low)} ${rowAt(i) + 4}v10m0-5H${x(high)}m0-5v10" class="whisker"/>`;
}

function intervalText([low, high]: Bar['interval']): string {
  return `95 % interval ${rangeText([low, high], count)}`;
}

function tip(text: string): string {
  return `<title>${escapeHtml(text)}</title>`;
}

export function rangeText(
  [low, high]: Bar['interval'],
  show: (value: number) => string,
  until = 'to',
): string {
  return Number.isFinite(high) ? `${show(low)} ${until} ${show(high)}` : `${show(low)} or more`;
}

export function signedPercent(share: number): string {
  return `${share < 0 ? '−' : '+'}${Math.round(Math.abs(share) * 100)} %`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
