/** The charts of the report as SVG; the page's styles color them, also in dark mode. */

const LABEL = 130;
const WIDTH = 640;
const PLOT = WIDTH - LABEL - 70;

export interface Bar {
  label: string;
  value: number;
  interval: [low: number, high: number];
  truth: number;
}

export interface Range {
  label: string;
  low: number;
  high: number;
  truth: number;
}

/** One bar per row with its interval, and a mark where the truth lies; ranges below, where only bounds are known. */
export function barChart(title: string, bars: Bar[], ranges: Range[] = []): string {
  const most = Math.max(...bars.flatMap((b) => [b.interval[1], b.truth]), ...ranges.map((r) => r.high), 1);
  const x = (value: number) => LABEL + (Math.max(value, 0) / most) * PLOT;
  const rows = [
    ...bars.map((bar, i) => {
      const y = 14 + i * 34;
      const [low, high] = bar.interval.map(x) as [number, number];
      const whisker = `M${low} ${y + 6}v12m0-6H${high}m0-6v12`;
      return `<g>${tip(`${bar.label}: ${count(bar.value)}, 95 % interval ${count(bar.interval[0])} to ${count(bar.interval[1])}, truth ${count(bar.truth)}`)}
        <text x="${LABEL - 10}" y="${y + 16}" class="label">${escapeHtml(bar.label)}</text>
        <rect x="${LABEL}" y="${y}" width="${x(bar.value) - LABEL}" height="24" class="bar"/>
        <path d="${whisker}" class="whisker"/>${truthMark(x(bar.truth), y)}
        <text x="${Math.max(x(bar.value), high) + 8}" y="${y + 16}" class="value">${count(bar.value)}</text></g>`;
    }),
    ...ranges.map((range, i) => {
      const y = 14 + (bars.length + i) * 34;
      return `<g>${tip(`${range.label}: between ${count(range.low)} and ${count(range.high)}, truth ${count(range.truth)}`)}
        <text x="${LABEL - 10}" y="${y + 16}" class="label">${escapeHtml(range.label)}</text>
        <rect x="${x(range.low)}" y="${y}" width="${x(range.high) - x(range.low)}" height="24" class="range"/>${truthMark(x(range.truth), y)}
        <text x="${x(range.high) + 8}" y="${y + 16}" class="value">bounds</text></g>`;
    }),
  ];
  return svg(title, 20 + rows.length * 34, rows.join(''));
}

export interface Share {
  label: string;
  value: number;
  interval: [low: number, high: number];
  truth: number;
}

/** A distribution: a column per frequency, its interval, and a mark where the truth lies. */
export function columnChart(title: string, shares: Share[]): string {
  const height = 170;
  const most = Math.max(...shares.flatMap((s) => [s.interval[1], s.truth]), 0.01);
  const y = (share: number) => 10 + height * (1 - Math.max(share, 0) / most);
  const step = (WIDTH - 40) / shares.length;
  const columns = shares.map((share, i) => {
    const x = 30 + i * step;
    const middle = x + step * 0.35;
    const [low, high] = share.interval.map(y) as [number, number];
    return `<g>${tip(`${share.label}: ${percent(share.value)}, truth ${percent(share.truth)}`)}
      <rect x="${x}" y="${y(share.value)}" width="${step * 0.7}" height="${y(0) - y(share.value)}" class="bar"/>
      <path d="M${middle - 5} ${low}h10m-5 0V${high}m-5 0h10" class="whisker"/>
      <path d="M${x} ${y(share.truth)}h${step * 0.7}" class="truth"/>
      <text x="${middle}" y="${y(0) + 16}" class="tick">${escapeHtml(share.label)}</text>
      <text x="${middle}" y="${Math.min(y(share.value), high) - 5}" class="tick">${percent(share.value)}</text></g>`;
  });
  return svg(title, height + 34, columns.join(''), -8);
}

export interface Lane {
  label: string;
  /** Milliseconds from the start of the first lane. */
  spans: { state: string; from: number; to: number }[];
}

/** States over time, a lane per measurement. */
export function timelineChart(title: string, lanes: Lane[]): string {
  const label = 275;
  const last = Math.max(...lanes.flatMap((lane) => lane.spans.map((span) => span.to)), 1);
  const x = (ms: number) => label + (ms / last) * (WIDTH - label - 20);
  const rows = lanes.map((lane, i) => {
    const y = 6 + i * 26;
    const spans = lane.spans.map(
      ({ state, from, to }) =>
        `<rect x="${x(from)}" y="${y}" width="${Math.max(x(to) - x(from), 6)}" height="16" class="state ${state.toLowerCase()}">${tip(`${lane.label}: ${state}, ${seconds(from)} to ${seconds(to)}`)}</rect>`,
    );
    return `<text x="${label - 10}" y="${y + 13}" class="label">${escapeHtml(lane.label)}</text>${spans.join('')}`;
  });
  const bottom = 6 + lanes.length * 26;
  const ticks = [0, 0.25, 0.5, 0.75, 1].map(
    (part) =>
      `<path d="M${x(last * part)} 0V${bottom}" class="grid"/><text x="${x(last * part)}" y="${bottom + 14}" class="tick">${seconds(last * part)}</text>`,
  );
  return svg(title, bottom + 20, ticks.join('') + rows.join(''));
}

export interface Deviation {
  row: string;
  label: string;
  /** In standard deviations from the truth. */
  sigmas: number;
}

/** How far results lie from the truth, a row of dots for each kind; the band holds 95 of 100. */
export function deviationChart(title: string, deviations: Deviation[]): string {
  const rows = [...new Set(deviations.map(({ row }) => row))];
  const bottom = 6 + rows.length * 26;
  const x = (sigmas: number) => LABEL + ((Math.max(-5, Math.min(5, sigmas)) + 5) / 10) * PLOT;
  const band = `<rect x="${x(-1.96)}" y="0" width="${x(1.96) - x(-1.96)}" height="${bottom}" class="range"/>`;
  const ticks = [-4, -2, 0, 2, 4].map(
    (at) =>
      `<path d="M${x(at)} 0V${bottom}" class="${at === 0 ? 'truth' : 'grid'}"/><text x="${x(at)}" y="${bottom + 14}" class="tick">${at === 0 ? 'truth' : `${at > 0 ? '+' : '−'}${Math.abs(at)} σ`}</text>`,
  );
  const labels = rows.map(
    (row, i) => `<text x="${LABEL - 10}" y="${6 + i * 26 + 13}" class="label">${escapeHtml(row)}</text>`,
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

function truthMark(x: number, y: number): string {
  return `<path d="M${x} ${y - 3}v30" class="truth"/>`;
}

function tip(text: string): string {
  return `<title>${escapeHtml(text)}</title>`;
}

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(2)} %`;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}

export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);
}
