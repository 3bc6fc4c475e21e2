/** The demo's report: a single HTML file that works offline. */
import {
  type Bar,
  barChart,
  type Chart,
  escapeText,
  frequencyChart,
  type Lane,
  laneChart,
  PEOPLE,
  residualChart,
  toText,
} from '@measurement-exchange/console/charts';
import { reportCharts, stateText } from '../report/html.ts';
import { style } from '../report/style.ts';
import { count } from '../terminal/numbers.ts';
import {
  type DemoMeasurement,
  type DemoReport,
  type Figure,
  rangeText,
  reachesTogether,
  shortName,
  signedPercent,
  TOGETHER,
  textOf,
  truthIs,
} from './figures.ts';
import { ABOUT_PRIVACY } from './privacy.ts';

export function renderReport(report: DemoReport): string {
  const { measurements, impressions } = report;
  const total = impressions.reduce((sum, { impressions: n }) => sum + n, 0);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Measurement Exchange: the demo's report</title>
<style>${style()}</style>
<main>
${headline(report)}
<p class="legend">${KEY.map(([mark, words]) => `<span><svg class="plot" viewBox="0 0 18 11" aria-hidden="true">${mark}</svg>${words}</span>`).join('')}</p>
${section(
  'How it was measured',
  `<p>${count(total)} synthetic impressions (seed ${report.seed}) at three publishers. The advertiser asked; each publisher
computed from its own file, alone with noise of its own, or as a share of its counts that three duchies compute with and none
of them can read; and only the advertiser could decrypt the results. The truth, which no party of the exchange knows, was
computed from the files afterward. All of it took ${report.seconds.toFixed(1)} s. ${escapeText(ABOUT_PRIVACY)}</p>`,
)}
${section('People counted once, by protocol', byProtocol(report))}
${section('Reach by provider', reachCharts(measurements))}
${section('How often people were reached', frequencyCharts(measurements))}
${section('How far from the truth', deviations(measurements))}
${section('All of it in one report', campaignCharts(report))}
${section('What happened when', timelines(measurements))}
${section('Every figure', table(measurements))}
${section('What was refused', refusals(measurements))}
</main>
</html>
`;
}

/** The legend of the charts: each mark and its meaning. */
const KEY = [
  ['<rect class="f1" width="18" height="11"/>', 'released result'],
  ['<path class="wh" d="M1 5.5h16M1 2v7M17 2v7"/>', '95 % interval'],
  ['<path class="truth" d="M9 0v11"/>', 'truth'],
  [
    '<rect class="soft0" width="18" height="11"/><path class="stripes" stroke-width="11" d="M0 5.5h18"/>',
    'what adding up would have claimed',
  ],
];

function section(title: string, content: string): string {
  return `<section><h2>${title}</h2>${content}</section>`;
}

/** Returns the report's first section, which shows the reach of all providers together. */
function headline(report: DemoReport): string {
  const { result, truth, claimed } = reachesTogether(report)[0]!;
  const bars: Bar[] = [
    { label: 'truth', value: truth, look: 'soft' },
    { label: 'counted once', value: result.value, interval: result.interval },
    { label: 'added up', value: claimed, look: 'striped', note: signedPercent(claimed / truth - 1) },
  ];
  const chart = barChart(
    'Reach of all providers together',
    PEOPLE,
    bars.map((bar) => ({ ...bar, truth })),
  );
  return `<h1>Three publishers together reached ${count(result.value)} people, each counted once</h1>
<p>95 % interval: ${rangeText(result.interval, count)}. Truth: ${count(truth)}. Many people saw the campaign at several publishers: adding up
the publishers’ own figures would have claimed ${count(claimed)}, ${signedPercent(claimed / truth - 1)}. No publisher shared its data.</p>
${figure(chart)}`;
}

/** Returns the charts of the campaign report, in which no figure contradicts another. */
function campaignCharts({ campaign }: DemoReport): string {
  const about = 'The same results, corrected so that no figure contradicts another, as mex report does.';
  return `<p>${about} ${escapeText(stateText(campaign))}</p>${reportCharts(campaign)}`;
}

function byProtocol(report: DemoReport): string {
  const title = 'Reach of all providers together, by the protocol of the duchies';
  const bars = reachesTogether(report).map((reach) => ({ ...barOf(reach), label: reach.protocol }));
  const notes = report.measurements.flatMap(({ protocol, about }) =>
    about === undefined ? [] : [`<p><strong>${escapeText(protocol!)}</strong>: ${escapeText(about)}</p>`],
  );
  return `${notes.join('')}${figure(barChart(title, PEOPLE, bars))}`;
}

function reachCharts(measurements: DemoMeasurement[]): string {
  const reaches = (of: DemoMeasurement[]) =>
    of
      .flatMap(({ figures }) =>
        figures.filter(({ what, of: whose }) => what === 'reach' && whose !== TOGETHER),
      )
      .map(barOf);
  const everybody = measurements.filter(({ title }) => title.startsWith('Reach and frequency'));
  const others = measurements.filter((measurement) => !everybody.includes(measurement));
  const charts = [
    { title: 'each provider alone', bars: reaches(everybody) },
    ...others.map((of) => ({ title: of.title, bars: reaches([of]) })),
  ];
  return sideBySide(
    charts
      .filter(({ bars }) => bars.length > 0)
      .map(({ title, bars }) => figure(barChart(`Reach: ${title}`, PEOPLE, bars))),
  );
}

function barOf({ of, result, truth }: Figure): Bar {
  return { label: shortName(of), value: result.value, interval: result.interval, truth };
}

function frequencyCharts(measurements: DemoMeasurement[]): string {
  const charts = measurements
    .map(({ figures, protocol }) => ({
      protocol,
      shares: figures.filter(({ what }) => what.startsWith('frequency')),
    }))
    .filter(({ shares }) => shares.length > 0)
    .toSorted((a, b) => Number(b.protocol !== undefined) - Number(a.protocol !== undefined))
    .map(({ protocol, shares }) => {
      const figures = shares.map((share) => ({
        ...barOf(share),
        ...(share.claimed !== undefined && { claimed: share.claimed }),
      }));
      const by = protocol === undefined ? '' : ` (${protocol})`;
      const title = `${shortName(shares[0]!.of)}${by}: share of the people reached, by number of impressions`;
      return figure(frequencyChart(title, figures));
    });
  return sideBySide(charts);
}

function timelines(measurements: DemoMeasurement[]): string {
  const timed = measurements.filter(({ timeline }) => timeline.transitions.length > 0);
  const at = (time: string) => Date.parse(time);
  const start = Math.min(...timed.map(({ timeline }) => at(timeline.transitions[0]!.time)));
  const lanes = timed.map(({ title, timeline, name }): Lane => {
    const steps = timeline.transitions.filter(({ resource }) => resource === name);
    const times = steps.map(({ time }) => at(time) - start);
    return {
      label: title,
      spans: steps.map(({ to }, i) => ({ state: to, from: times[i]!, to: times[i + 1] ?? times[i]! })),
    };
  });
  const states = [...new Set(lanes.flatMap(({ spans }) => spans.map(({ state }) => state)))];
  const key = states
    .map((state) => {
      const mark = `<rect class="st ${escapeText(state.toLowerCase())}" width="18" height="11"/>`;
      return `<span><svg viewBox="0 0 18 11" aria-hidden="true">${mark}</svg>${escapeText(state)}</span>`;
    })
    .join('');
  return `<p class="legend">${key}</p>${figure(laneChart('Measurements by state', lanes))}`;
}

function deviations(measurements: DemoMeasurement[]): string {
  const dots = measurements.flatMap(({ title, figures }) =>
    figures
      .filter(({ result }) => result.standardDeviation > 0)
      .map(({ of, what, truth, result }) => ({
        row: what.replace(/ \d.*/, ''),
        label: `${title}, ${shortName(of)}, ${what}`,
        sigmas: (result.value - truth) / result.standardDeviation,
      })),
  );
  const title = 'Every figure with noise, in its own standard deviations; the band should hold 95 of 100';
  return figure(residualChart(title, dots));
}

function table(measurements: DemoMeasurement[]): string {
  const groups = measurements
    .filter(({ figures }) => figures.length > 0)
    .map(({ title, figures }) => {
      return `<tbody><tr><th colspan="7" class="group">${escapeText(title)}</th></tr>${figures.map(row).join('')}</tbody>`;
    });
  const headings = COLUMNS.map((heading) => `<th>${heading}`).join('');
  return `<table><thead><tr>${headings}</thead>${groups.join('')}</table>`;
}

const COLUMNS = ['provider', 'figure', 'truth', 'result', '95 % interval', 'added up', 'truth is'];

function row(figure: Figure): string {
  const { of, what, truth, result, claimed } = figure;
  const text = textOf(figure);
  const verdict = truthIs(figure);
  const cells: [text: string, style?: string][] = [
    [escapeText(shortName(of))],
    [what],
    ...[text(truth), text(result.value), rangeText(result.interval, text, '…')].map(
      (number): [string, string] => [number, 'n'],
    ),
    [claimed === undefined ? '' : text(claimed), 'n'],
    [verdict, verdict.split(' ')[0]!],
  ];
  // Label each cell with its heading, because phones show the label next to the cell and hide the row of headings.
  const tds = cells.map(
    ([text, style = ''], i) => `<td data-label="${COLUMNS[i]}" class="${style}">${text}</td>`,
  );
  return `<tr>${tds.join('')}</tr>`;
}

function refusals(measurements: DemoMeasurement[]): string {
  const failed = measurements.filter(({ failure }) => failure !== undefined);
  return `<ul>${failed.map(({ title, failure }) => `<li><strong>${escapeText(title)}</strong>: ${escapeText(failure!)}`).join('')}</ul>`;
}

function sideBySide(charts: string[]): string {
  return `<div class="charts">${charts.join('')}</div>`;
}

function figure({ title, drawing }: Chart): string {
  return `<figure><figcaption>${escapeText(title)}</figcaption>${toText(drawing)}</figure>`;
}
