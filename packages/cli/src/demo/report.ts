/** The demo's report: a single HTML file that works offline. */
import { count, percent } from '../terminal/numbers.ts';
import {
  type Bar,
  barChart,
  columnChart,
  deviationChart,
  escapeHtml,
  type Lane,
  rangeText,
  signedPercent,
  timelineChart,
  unionChart,
} from './charts.ts';
import {
  type DemoMeasurement,
  type DemoReport,
  type Figure,
  reachesTogether,
  shortName,
  TOGETHER,
} from './figures.ts';

export function renderReport(report: DemoReport): string {
  const { measurements, impressions } = report;
  const total = impressions.reduce((sum, { impressions: n }) => sum + n, 0);
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>Measurement Exchange: the demo's report</title>
<style>${STYLE}</style>
<main>
<h1>Three publishers, one advertiser, and no data shared</h1>
<p>${count(total)} synthetic impressions (seed ${report.seed}) at three data providers. The advertiser asked; each provider
computed from its own file, alone with noise of its own, or as a share of its counts that three duchies compute with and none
of them can read; and only the advertiser could decrypt the results. The truth, which no party of the exchange knows, was
computed from the files afterwards. All of it took ${report.seconds.toFixed(1)} s.</p>
<p class="key"><span class="swatch bar"></span> released result <span class="swatch whisker"></span> 95 % interval <span class="swatch truth"></span> truth <span class="swatch claimed"></span> what adding up would have claimed</p>
${section('People counted once', together(report))}
${section('Reach by provider', reachCharts(measurements))}
${section('How often people were reached', frequencyCharts(measurements))}
${section('How far from the truth', deviations(measurements))}
${section('What happened when', timelines(measurements))}
${section('Every figure', table(measurements))}
${section('What was refused', refusals(measurements))}
</main>
</html>
`;
}

function section(title: string, content: string): string {
  return `<section><h2>${title}</h2>${content}</section>`;
}

/** Protocol names, shortened to fit in a chart. */
const LABELS: Record<string, string> = {
  honestMajorityShareShuffle: 'share shuffle',
  reachOnlyLiquidLegionsV2: 'reach-only legions',
  liquidLegionsV2: 'legions v2',
};

function together(report: DemoReport): string {
  const reaches = reachesTogether(report);
  const { result, truth, claimed } = reaches[0]!;
  const title = 'Reach of all providers together';
  const byProtocol = 'Reach of all providers together, by the protocol of the duchies';
  const bars = reaches.map((reach) => ({ ...barOf(reach), label: LABELS[reach.protocol] ?? reach.protocol }));
  return `<p>Many people saw the campaign at two publishers or at all three. Adding up what the publishers count claims
${count(claimed)} people, ${signedPercent(claimed / truth - 1)}. Three duchies counted everybody once: ${count(result.value)}, with a 95 % interval of ${rangeText(result.interval, count)}.</p>${figure(title, unionChart(title, { ...result, truth, claimed }))}
<p>Duchies know three protocols. The first counts everybody of a population; the other two need none, and count encrypted
sketches, in which several people share a register: they are less exact.</p>${figure(byProtocol, barChart(byProtocol, bars))}`;
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
  return charts
    .filter(({ bars }) => bars.length > 0)
    .map(({ title, bars }) => figure(title, barChart(`Reach: ${title}`, bars)))
    .join('');
}

function barOf({ of, result, truth }: Figure): Bar {
  return { label: shortName(of), value: result.value, interval: result.interval, truth };
}

function frequencyCharts(measurements: DemoMeasurement[]): string {
  return measurements
    .map(({ figures, protocol }) => ({
      protocol,
      shares: figures.filter(({ what }) => what.startsWith('frequency')),
    }))
    .filter(({ shares }) => shares.length > 0)
    .toSorted((a, b) => Number(b.protocol !== undefined) - Number(a.protocol !== undefined))
    .map(({ protocol, shares }) => {
      const columns = shares.map((share) => ({
        ...barOf(share),
        label: share.what.replace('frequency ', ''),
        ...(share.claimed !== undefined && { claimed: share.claimed }),
      }));
      const by = protocol === undefined ? '' : ` (${protocol})`;
      const title = `${shortName(shares[0]!.of)}${by}: share of the people reached, by number of impressions`;
      return figure(title, columnChart(title, columns));
    })
    .join('');
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
    .map((state) => `<span class="swatch state ${state.toLowerCase()}"></span> ${state}`)
    .join(' ');
  return `<p class="key">${key}</p>${figure('Measurements by state', timelineChart('Measurements by state', lanes))}`;
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
  return figure(title, deviationChart(title, dots));
}

function table(measurements: DemoMeasurement[]): string {
  const groups = measurements
    .filter(({ figures }) => figures.length > 0)
    .map(({ title, figures }) => {
      const rows = figures.map(({ of, what, truth, result, inside95, within5Sigma, claimed }) => {
        const text = what.startsWith('frequency') ? percent : count;
        const verdict = inside95 ? 'inside' : within5Sigma ? 'outside, within 5σ' : 'beyond 5σ';
        return `<tr><td>${escapeHtml(shortName(of))}<td>${what}<td class="n">${text(truth)}<td class="n">${text(result.value)}<td class="n">${rangeText(result.interval, text, '…')}<td class="n">${claimed === undefined ? '' : text(claimed)}<td class="${within5Sigma ? 'good' : 'bad'}">${verdict}`;
      });
      return `<tbody><tr><th colspan="7" class="group">${escapeHtml(title)}</th></tr>${rows.join('')}</tbody>`;
    });
  return `<div class="scroll"><table><thead><tr><th>provider<th>figure<th>truth<th>result<th>95 % interval<th>added up<th>truth is</thead>${groups.join('')}</table></div>`;
}

function refusals(measurements: DemoMeasurement[]): string {
  const failed = measurements.filter(({ failure }) => failure !== undefined);
  return `<ul>${failed.map(({ title, failure }) => `<li><strong>${escapeHtml(title)}</strong>: ${escapeHtml(failure!)}`).join('')}</ul>`;
}

function figure(caption: string, chart: string): string {
  return `<figure><figcaption>${escapeHtml(caption)}</figcaption>${chart}</figure>`;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1d2530; --soft: #5b6675; --line: #d9dee5; --paper: #fff; --bar: #4a7fd0; --range: #b9cdec; --truth: #c2410c; --claimed: #d9b26a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #9aa6b5; --line: #323b47; --paper: #14181d; --bar: #6d9be0; --range: #33507f; --truth: #ff8a4c; --claimed: #8a6a2c; } }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.55 system-ui, sans-serif; }
main { max-width: 52rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { font-size: 1.7rem; line-height: 1.25; } h2 { font-size: 1.2rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); padding-bottom: .3rem; }
figure { margin: 1.25rem 0; } figcaption { color: var(--soft); font-size: .9rem; margin-bottom: .25rem; }
svg { width: 100%; height: auto; font: 12px system-ui, sans-serif; }
.label { text-anchor: end; fill: var(--ink); } .value { fill: var(--soft); } .tick { text-anchor: middle; fill: var(--soft); font-size: 11px; }
rect.bar, .swatch.bar { fill: var(--bar); background: var(--bar); } rect.range { fill: var(--range); } rect.true { fill: var(--line); } rect.claimed, .swatch.claimed { fill: var(--claimed); background: var(--claimed); }
.whisker { stroke: var(--ink); fill: none; stroke-width: 1.2; } .truth { stroke: var(--truth); fill: none; stroke-width: 2.5; } .grid { stroke: var(--line); } .dot { fill: var(--bar); stroke: var(--paper); }
.state { fill: var(--soft); background: var(--soft); } .awaiting_requisition_fulfillment { fill: var(--range); background: var(--range); } .computing { fill: var(--bar); background: var(--bar); }
.succeeded { fill: #2f9e60; background: #2f9e60; } .failed { fill: #cf4037; background: #cf4037; } .cancelled { fill: #a16207; background: #a16207; }
.key { color: var(--soft); font-size: .9rem; } .swatch { display: inline-block; width: .9rem; height: .7rem; margin: 0 .25rem 0 .8rem; } .swatch.whisker { height: 2px; background: var(--ink); vertical-align: middle; } .swatch.truth { width: 3px; background: var(--truth); vertical-align: middle; }
.scroll { overflow-x: auto; } table { border-collapse: collapse; font-size: .9rem; width: 100%; } th, td { text-align: left; padding: .3rem .6rem; border-bottom: 1px solid var(--line); white-space: nowrap; } th.group { padding-top: 1.2rem; color: var(--soft); font-weight: 600; } td.n { text-align: right; font-variant-numeric: tabular-nums; } .good { color: #2f9e60; } .bad { color: #cf4037; font-weight: 600; }
`;
