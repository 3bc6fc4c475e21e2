/**
 * Renders the demo's report on a terminal of 80 columns and in a browser, from made-up figures, so no exchange is
 * needed.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Timeline } from '@measurement-exchange/contract';
import type { ReportDocument } from '@measurement-exchange/reports';
import { lacksChromium, launchChromium } from '@measurement-exchange/testkit/chromium';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import {
  type DemoMeasurement,
  type DemoReport,
  type Figure,
  figureOf,
  reachesTogether,
  TOGETHER,
} from '../src/demo/figures.ts';
import { renderReport } from '../src/demo/report.ts';
import { scenarios } from '../src/demo/scenarios.ts';
import { printReport } from '../src/demo/summary.ts';

let folder: string;
let file: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-demo-report-'));
  file = join(folder, 'report.html');
  await writeFile(file, renderReport(report));
});
afterAll(() => rm(folder, { recursive: true }));

const PROVIDERS = ['dataProviders/streamly', 'dataProviders/chirper', 'dataProviders/dailynews'];
const AUDIENCES = PROVIDERS.map((dataProvider) => ({ dataProvider, file: '', impressions: 500_000 }));
const GROUPS = new Map(PROVIDERS.map((name) => [name, [`${name}/eventGroups/g`]]));

/** A report with the questions of the demo and made-up figures of realistic size. */
const report: DemoReport = {
  ...{ exchange: 'http://127.0.0.1:1', seed: 1, seconds: 12.3 },
  impressions: AUDIENCES,
  campaign: campaignOf(),
  measurements: scenarios(AUDIENCES, GROUPS, 600_000).map(({ title, about, request, refusal }, i) => {
    const measurement: DemoMeasurement = {
      ...{ title, ...(about && { about }), name: `measurementConsumers/acme/measurements/lleh43ua6mkc${i}` },
      ...{ state: refusal ? 'FAILED' : 'SUCCEEDED', figures: [], timeline: timelineOf(i) },
    };
    if (refusal)
      return { ...measurement, failure: `${PROVIDERS[2]}: ${refusal}. BUDGET_EXCEEDED at events[0], day 1` };
    const together = request.type.startsWith('reach') && request.dataProviders.length > 1;
    const figures = together
      ? figuresFor(TOGETHER, request).map((figure) => ({ ...figure, claimed: figure.truth * 1.38 }))
      : request.dataProviders.flatMap(({ name }) => figuresFor(name, request));
    const protocol = request.protocol ?? 'honestMajorityShareShuffle';
    return { ...measurement, figures, ...(together && { protocol }) };
  }),
};

/** A report of the campaign with made-up figures. */
function campaignOf(): ReportDocument {
  const estimate = (value: number) => ({
    ...{
      value,
      raw: value + 3,
      low: value - 90,
      high: value + 90,
      standardDeviation: 45,
      noiseDominated: false,
    },
  });
  const segments = ['streamly', 'chirper', 'dailynews'];
  const period = { start: '2026-10-01T00:00:00Z', end: '2026-10-29T00:00:00Z' };
  return {
    ...{ title: 'Acme Cola, autumn', state: 'COMPLETE', segments, population: 600_000, fits: [] },
    interval: { start: '2026-10-01', end: '2026-10-29', timeZone: 'UTC' },
    figures: ['all', ...segments].map((of, i) => ({
      ...{ metric: 'frequency', cumulative: false, of, period, group: {}, missing: [] },
      estimate: estimate(420_000 - 90_000 * i),
      frequencies: [{ frequency: 1, people: estimate(200_000), orMore: estimate(420_000) }],
    })),
    derived: [
      ...[{ name: 'average frequency' as const, of: 'all', period, group: {}, value: estimate(3.2) }],
    ],
  };
}

function figuresFor(
  of: string,
  { type, maximumFrequency = 0 }: { type: string; maximumFrequency?: number },
): Figure[] {
  const figure = (what: Figure['what'], truth: number, off: number) =>
    figureOf(of, what, truth, {
      ...{ value: truth + off, variance: off ** 2, standardDeviation: off },
      interval: [truth - off, truth + 3 * off],
    });
  switch (type) {
    case 'impression':
      return [figure('impressions', 782_114, 984)];
    case 'duration':
      return [figure('watch seconds', 19_370_096, 11_810)];
    case 'population':
      return [figure('people', 210_000, 0)];
    default: {
      const shares = Array.from({ length: maximumFrequency }, (_, i) => {
        const more = i + 1 === maximumFrequency ? '+' : '';
        return figure(`frequency ${i + 1}${more}`, 0.25 / (i + 1), 0.01);
      });
      return [figure('reach', 420_655, 117), ...shares];
    }
  }
}

function timelineOf(i: number): Timeline {
  const states = ['AWAITING_REQUISITION_FULFILLMENT', 'COMPUTING', 'SUCCEEDED'];
  const transitions = states.map((to, at) => ({
    ...{ resource: `measurementConsumers/acme/measurements/lleh43ua6mkc${i}`, to },
    ...{
      time: new Date(1e12 + at * 1000 * (i + 1)).toISOString(),
      actor: 'exchange',
      cause: 'x',
      requestId: 'r',
    },
  }));
  return { transitions };
}

const WEAK =
  'The people of the demo are made up, so its privacy parameters are weaker than real people need: a daily budget';

it('prints a table for each question in 80 columns, and the figure of all publishers at the end', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  printReport(report, { report: file, csv: join(folder, 'figures.csv') });
  const out = write.mock.calls.map(([text]) => text).join('');
  write.mockRestore();
  for (const { title } of report.measurements) expect(out).toContain(title);
  const wide = out.split('\n').filter((line) => line.length > 80 && !line.includes(folder));
  expect(wide).toEqual([]);
  expect(out.replace(/\s+/g, ' ')).toContain(
    `${WEAK} of delta 0.0001 and rho 0.7, and an epsilon of 2 for sketches.`,
  );
  expect(out).toMatch(
    /one report, in which no figure contradicts another {2}COMPLETE\n[\s\S]* {2}all +420,000 +419,910 … 420,090 +3\.20\n/,
  );
  for (const { protocol } of reachesTogether(report)) expect(out).toContain(`counted once by ${protocol}\n`);
  expect(out).toMatch(
    /\n\nAll publishers together reached [\d,]+ people, each counted once\n\(95 %: [\d,]+ to [\d,]+; truth [\d,]+\)\.\nAdding up their figures would have claimed [\d,]+, [+−-]\d+ %\.\n$/,
  );
});

describe('figureOf', () => {
  const result = { value: 100, variance: 4, standardDeviation: 2, interval: [96, 104] as [number, number] };
  it.each([
    [104, true, true],
    [105, false, true],
    [111, false, true],
    [112, false, false],
  ])(
    'compares the truth %i with its interval and five standard deviations',
    (truth, inside95, within5Sigma) => {
      expect(figureOf('dataProviders/x', 'reach', truth, result)).toMatchObject({ inside95, within5Sigma });
    },
  );
});

describe.skipIf(lacksChromium)('the report in a browser', () => {
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  beforeAll(async () => {
    browser = await launchChromium();
  }, 60_000);
  afterAll(() => browser.close());
  const open = async (width: number, path = file) => {
    const page = await browser.newPage({ viewport: { width, height: 844 } });
    await page.goto(pathToFileURL(path).href);
    return page;
  };

  it('shows the result at the top on a phone, and nothing is wider than the screen', async () => {
    const page = await open(390);
    const title = page.locator('h1');
    const { result } = reachesTogether(report)[0]!;
    expect(await title.textContent()).toContain(`${result.value.toLocaleString('en-US')} people`);
    expect((await title.boundingBox())!.y).toBeLessThan(100);
    expect(await page.locator('main').textContent()).toContain(WEAK);
    const { scrollWidth, wide } = await page.evaluate(() => ({
      scrollWidth: document.documentElement.scrollWidth,
      wide: [...document.querySelectorAll('body *')]
        .filter(
          (element) => element.getBoundingClientRect().right > innerWidth || element.scrollWidth > innerWidth,
        )
        .map((element) => element.outerHTML.slice(0, 100)),
    }));
    expect({ scrollWidth, wide }).toEqual({ scrollWidth: 390, wide: [] });
    const sizes = await page.locator('svg').evaluateAll((all) =>
      all.flatMap((svg) => {
        const scale = (svg as SVGSVGElement).getScreenCTM()!.a;
        return [...svg.querySelectorAll('text')].map(
          (text) => Number.parseFloat(getComputedStyle(text).fontSize) * scale,
        );
      }),
    );
    expect(Math.min(...sizes)).toBeGreaterThanOrEqual(11.5);
  });

  it('shows a truth outside of its interval in another color than one inside', async () => {
    const figures = report.measurements[0]!.figures.map((figure, i) => ({ ...figure, inside95: i > 0 }));
    const changed = join(folder, 'outside.html');
    await writeFile(
      changed,
      renderReport({
        ...report,
        measurements: [{ ...report.measurements[0]!, figures }, ...report.measurements.slice(1)],
      }),
    );
    const page = await open(1000, changed);
    const color = (text: string) =>
      page
        .getByRole('cell', { name: text, exact: true })
        .first()
        .evaluate((cell) => getComputedStyle(cell).color);
    expect(await color('outside')).not.toBe(await color('inside'));
  });
  it('opens without a network, and shows every plot', async () => {
    const page = await browser.newPage({ viewport: { width: 1000, height: 900 } });
    const problems: string[] = [];
    const requests: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    page.on('request', (request) => requests.push(request.url()));
    await page.goto(pathToFileURL(file).href);

    expect(await page.title()).toContain('Measurement Exchange');
    expect(problems).toEqual([]);
    expect(requests).toEqual([pathToFileURL(file).href]);
    const plots = await page.getByRole('img').evaluateAll((all) =>
      all.map((chart) => ({
        name: chart.getAttribute('aria-label')!,
        width: chart.getBoundingClientRect().width,
      })),
    );
    const named = (pattern: RegExp) => plots.filter(({ name }) => pattern.test(name));
    expect(named(/^Reach: /)).toHaveLength(2);
    expect(named(/^Reach of all providers together\. truth: [\d,]+\. counted once: /)).toHaveLength(1);
    expect(named(/share of the people reached/)).toHaveLength(5);
    expect(named(/^Measurements by state/)).toHaveLength(1);
    expect(named(/^Every figure/)).toHaveLength(1);
    for (const { width } of plots) expect(width).toBeGreaterThan(300);

    // Marks must lie inside their charts, and the lengths of bars must match their figures.
    const outside = await page.getByRole('img').evaluateAll((all) =>
      all.flatMap((chart) => {
        const frame = chart.getBoundingClientRect();
        return (
          [...chart.querySelectorAll('rect, path, text, circle')]
            .map((mark) => ({ mark: mark.outerHTML, box: mark.getBoundingClientRect() }))
            // Ignore marks of zero size, because they are not visible.
            .filter(({ box }) => box.width + box.height > 0)
            .filter(
              ({ box }) =>
                box.left < frame.left - 1 ||
                box.right > frame.right + 1 ||
                box.bottom > frame.bottom + 1 ||
                box.top < frame.top - 1,
            )
            .map(({ mark }) => mark)
        );
      }),
    );
    expect(outside).toEqual([]);
    const bars = await page
      .getByRole('img')
      .first()
      .locator('rect')
      .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
    const { truth, result, claimed } = reachesTogether(report)[0]!;
    expect(bars).toHaveLength(3);
    expect(bars[1]! / bars[0]!).toBeCloseTo(result.value / truth, 2);
    expect(bars[2]! / bars[0]!).toBeCloseTo(claimed / truth, 2);
    expect(await page.locator('tbody td:last-child').count()).toBe(
      report.measurements.flatMap((m) => m.figures).length,
    );
  });
});

it('the report escapes HTML in text of other parties', () => {
  const failure = '<script>alert(1)</script>';
  const measurements = report.measurements.map((m) => (m.failure === undefined ? m : { ...m, failure }));
  const html = renderReport({ ...report, measurements });
  expect(html).toContain('alert(1)');
  expect(html).not.toContain('<script>');
});
