import { describe, expect, it } from 'vitest';
import { capped, computed, inflated } from '../../test/computedReports.ts';
import { toText } from '../charts/index.ts';
import {
  addedChart,
  fitChart,
  groupCharts,
  kChart,
  onceChart,
  overlapChart,
  overTimeCharts,
  statsOf,
} from './charts.ts';
import { findingsOf } from './findings.ts';
import { planView } from './planView.ts';
import type { ReportView } from './types.ts';
import { measurementView, reportView } from './view.ts';
import { figureWords, labelsOf, needWords } from './words.ts';

const nameOf = (party: string) => party.split('/').at(-1)!;
/** Copies the view through JSON, as the companion server does. */
const sent = (view: ReportView) => JSON.parse(JSON.stringify(view)) as ReportView;

describe('a report of three publishers', async () => {
  const { report, plan, rehearsal } = await computed();
  const view = sent(reportView(report));
  const labels = labelsOf(view.segments);

  it('has overlaps and increments that add up to the total reach', () => {
    const rows = view.overlap.reduce((sum, { people }) => sum + people.value, 0);
    expect(rows).toBe(view.everyone!.value);
    const order = [2, 0, 1];
    const added = addedChart(view, labels, order)!.table.rows.map((row) => Number(row[2]));
    expect(added.reduce((sum, of) => sum + of)).toBe(view.everyone!.value);
    const singles = view.overlap.filter(({ members }) => members.length === 1);
    for (const { members, people } of singles) {
      const all = 7 - (1 << members[0]!);
      const only = view.added.find(({ segment, after }) => segment === members[0] && after === all);
      expect(only!.people.value).toBe(people.value);
    }
    const several = view.overlap.filter(({ members }) => members.length > 1);
    expect(several.reduce((sum, { people }) => sum + people.value, 0)).toBe(view.several!.value);
  });

  it('has increments for different orders of the publishers', () => {
    for (const order of [
      [0, 1, 2],
      [1, 2, 0],
      [2, 1, 0],
    ])
      expect(addedChart(view, labels, order)!.table.rows).toHaveLength(3);
  });

  it('draws a weekly chart that never decreases and ends with the total reach', () => {
    const [weeks] = overTimeCharts(view, labels);
    const values = weeks!.chart.table.rows.map((row) => Number(row[1]));
    expect(values).toHaveLength(4);
    expect(values).toEqual(values.toSorted((a, b) => a - b));
    expect(values.at(-1)).toBe(view.everyone!.value);
    expect(weeks!.chart.table.rows[0]![0]).toBe('Sep 13');
  });

  it('draws a chart of groups that add up to the total reach', () => {
    const [groups] = groupCharts(view, labels);
    expect(groups!.attributes).toEqual(['age', 'sex']);
    expect(groups!.chart.table.rows).toHaveLength(6);
    const sum = groups!.chart.table.rows.reduce((all, row) => all + Number(row[2]), 0);
    expect(sum).toBe(view.everyone!.value);
  });

  it('draws intervals in every chart', () => {
    const charts = [
      onceChart(view)!,
      overlapChart(view, labels),
      overlapChart(view, labels, true),
      addedChart(view, labels, [0, 1, 2])!,
      kChart(view.figures.find(({ frequencies }) => frequencies)!),
      ...[...overTimeCharts(view, labels), ...groupCharts(view, labels)].map(({ chart }) => chart),
    ];
    for (const { drawing, title } of charts) {
      expect(toText(drawing), title).toMatch(/class="wh/);
      expect(toText(drawing), title).not.toMatch(/NaN|undefined|Infinity/);
    }
  });

  it('reports a figure that is too small to tell from noise', () => {
    const [noise, ...others] = findingsOf(view, labels, nameOf);
    expect(others).toEqual([]);
    expect(noise!.title).toBe('One figure is too small to tell from noise.');
    expect(noise!.detail).toMatch(/^Reach of inAll \(0–[\d,]+\)/);
  });

  it('has a pull below 4 for every answer', () => {
    expect(view.needs.every(({ pull }) => Math.abs(pull!) < 4)).toBe(true);
    expect(fitChart(view, labels, nameOf).table.rows).toHaveLength(view.needs.length);
  });

  it('has a plan whose charges are within its budget', () => {
    const shown = planView(plan, rehearsal);
    expect(shown.charges.map(({ dataProvider }) => nameOf(dataProvider)).sort()).toEqual([
      'chirper',
      'dailynews',
      'streamly',
    ]);
    for (const { share, days } of shown.charges) {
      expect(share).toBeGreaterThan(0);
      expect(share).toBeLessThanOrEqual(0.1);
      expect(days).toBe(28);
    }
    expect(shown.expected.every(({ margin }) => margin! > 0)).toBe(true);
    expect(shown.expected.find(({ groups }) => groups)!.count).toBe(6);
  });
});

it('reportView returns the charges of each publisher, and marks reused answers', async () => {
  const { report, plan, rehearsal } = await computed();
  const planned = planView(plan, rehearsal).charges;
  expect(sent(reportView(report, new Map(), rehearsal.charges)).charges).toEqual(planned);
  const [first, ...others] = plan.needs;
  const reused = { ...report, plan: { ...plan, needs: [{ ...first!, answered: true }, ...others] } };
  const view = reportView(reused, new Map(), []);
  expect(view.needs.map(({ isReused }) => isReused)).toEqual([true, ...others.map(() => false)]);
  expect(view.charges.map(({ share, days }) => [share, days])).toEqual([
    [0, 0],
    [0, 0],
    [0, 0],
  ]);
});

it('needWords names the publishers of a measurement, and its first and last day', async () => {
  const { report } = await capped();
  const { needs, segments } = report.plan;
  const summed = needs.filter(({ need }) => need.type === 'IMPRESSION');
  expect(summed.length).toBe(2);
  const measurement = measurementView(summed as never, { state: 'COMPUTING' });
  const view = sent(reportView(report));
  expect(segments).toEqual(['streamly', 'chirper']);
  expect(needWords(view, labelsOf(view.segments), measurement)).toBe(
    'Impressions of streamly or chirper, Sep 7 – Oct 4',
  );
});

it('a report with frequencies has their average, and the impressions beyond each cap', async () => {
  const view = sent(reportView((await capped()).report));
  const figure = view.figures.find(({ frequencies }) => frequencies)!;
  expect(kChart(figure, 3).table.rows[0]![1]).toBe(view.everyone!.value);
  const stats = new Map(statsOf(view).map((stat) => [stat.label, stat]));
  const impressions = stats.get('Impressions')!;
  expect(figure.average!.value).toBeCloseTo(impressions.value / view.everyone!.value);
  expect(stats.get('Average frequency')!.value).toBeCloseTo(figure.average!.value);
  expect(stats.get('Gross rating points')!.value).toBeCloseTo(impressions.value / 6000);
  expect(stats.get('Of the population')!.value).toBeCloseTo(view.everyone!.value / 600_000);
  const saved = figure.beyond!.map(({ value }) => value);
  expect(saved).toEqual(saved.toSorted((a, b) => b - a));
  expect(saved[0]).toBe(impressions.value - view.everyone!.value);
  for (const { value, interval } of [...stats.values(), ...figure.beyond!]) {
    expect(interval[0]).toBeLessThanOrEqual(value);
    expect(interval[1]).toBeGreaterThanOrEqual(value);
  }
});

it('an inconsistent report names the publisher and measurement that do not fit, and has raw figures', async () => {
  const { report } = await inflated();
  const measured = new Map(
    report.plan.needs.map(({ key }, i) => [key, { measurement: `measurements/${i}`, state: 'SUCCEEDED' }]),
  );
  const view = sent(reportView(report, measured));
  expect(view.state).toBe('INCONSISTENT');
  const [finding] = findingsOf(view, labelsOf(view.segments), nameOf);
  expect(finding!.title).toBe('chirper does not fit the others.');
  expect(finding!.detail).toMatch(/^Furthest out: .* of chirper, Sep 7 – Oct 4, [\d.]+ σ away\./);
  expect(finding!.measurement).toMatch(/^measurements\//);
  const figure = view.figures.find(({ of, metric }) => of === 'chirper' && metric === 'reach')!;
  expect(figure.raw).toBeGreaterThan(figure.value! * 1.05);
});

it('an incomplete report has the answered figures, and names the measurement that failed', async () => {
  const { report } = await computed({ change: ({ union }, of) => (union === 7 ? undefined : of) });
  const lost = report.plan.needs.find(({ union }) => union === 7)!.key;
  const view = sent(
    reportView(report, new Map([[lost, { measurement: 'm/1', state: 'FAILED', reason: 'It was refused.' }]])),
  );
  expect(view.everyone).toBeUndefined();
  expect(view.alone.every((of) => of!.value > 0)).toBe(true);
  const finding = findingsOf(view, labelsOf(view.segments), nameOf).find(({ measurement }) => measurement)!;
  expect(finding.kind).toBe('missing');
  expect(finding.detail).toContain('It was refused.');
});

it('labelsOf names segments after their publishers only if these differ', () => {
  const segment = (name: string, dataProvider: string) => ({
    ...{ name, eventGroups: [], dataProviders: [`dataProviders/${dataProvider}`] },
  });
  const look = (name: string) => ({ label: `${nameOf(name)} TV`, index: 3 });
  expect(labelsOf([segment('a', 'x'), segment('b', 'y')], look)[0]).toEqual({ label: 'x TV', place: 3 });
  expect(labelsOf([segment('a', 'x'), segment('b', 'x')], look)[0]).toEqual({ label: 'a', place: 0 });
});

it('figureWords and needWords show periods in the time zone of the report', () => {
  const segments = [{ name: 'tv', eventGroups: [], dataProviders: ['dataProviders/x'] }];
  const view = {
    segments,
    everything: ['tv'],
    interval: { start: '', end: '', timeZone: 'America/New_York' },
  };
  const labels = [{ label: 'TV', place: 0 }];
  const period = { start: '2026-09-07T04:00:00Z', end: '2026-09-14T04:00:00Z' };
  const figure = {
    metric: 'reach',
    of: 'tv',
    periods: 'weekly(MONDAY)',
    period,
    group: { sex: 'F' },
  } as const;
  expect(figureWords(view, labels, { ...figure, isCumulative: false })).toBe('Reach of TV, Sep 7 – 13, F');
  expect(figureWords(view, labels, { ...figure, isCumulative: true })).toBe('Reach of TV, until Sep 13, F');
  const need = { type: 'IMPRESSION', segments: [0], period, group: {}, dataProviders: [] } as const;
  expect(needWords(view, labels, { ...need, dataProviders: [] })).toBe('Impressions of TV, Sep 7 – 13');
});
