/** The demo, on an exchange that runs, and its report as a browser shows it. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { lacksChromium, launchChromium } from '@measurement-exchange/testkit/chromium';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { DemoReport } from '../src/demo/figures.ts';
import { figureOf } from '../src/demo/figures.ts';
import { renderReport } from '../src/demo/report.ts';
import { useExchange } from './adminWorld.ts';
import { mex } from './mexInProcess.ts';

useExchange();

let folder: string;
let file: string;
let report: DemoReport;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-demo-test-'));
  file = join(folder, 'report.html');
  report = JSON.parse(await mex('demo', '--population', '20000', '--seed', '7', '--report', file, '--json'));
}, 60_000);
afterAll(() => rm(folder, { recursive: true }));

const titled = (title: string) => report.measurements.find((m) => m.title.startsWith(title))!;

describe('mex demo', () => {
  it('finds every figure within five standard deviations of the truth', () => {
    const figures = report.measurements.flatMap((m) => m.figures);
    expect(figures.filter(({ within5Sigma }) => !within5Sigma)).toEqual([]);
    expect(new Set(figures.map(({ what }) => what.replace(/ \d.*/, '')))).toEqual(
      new Set(['reach', 'frequency', 'impressions', 'watch seconds', 'people']),
    );
  });

  it('adds noise to what is noised, and none to the population', () => {
    const reaches = titled('Reach and frequency').figures.filter(({ what }) => what === 'reach');
    expect(reaches).toHaveLength(3);
    for (const { result } of reaches) expect(result.standardDeviation).toBeGreaterThan(1);
    const [people] = titled('Population').figures;
    expect(people!.result.value).toBe(people!.truth);
    expect(people!.result.standardDeviation).toBe(0);
  });

  it('gives bounds for the union of reaches, and the union lies between them', () => {
    const { bounds, truth } = titled('Reach and frequency').union!;
    expect(bounds[0]).toBeLessThan(truth);
    expect(truth).toBeLessThan(bounds[1]);
  });

  it('has one question refused for what it says and one for the budget', () => {
    expect(titled('A filter').failure).toMatch(
      /^dataProviders\/chirper: SPEC_INVALID\. FILTER_ATTRIBUTE at events\[0\]\.filter, line 1, column 1$/,
    );
    expect(titled('A question beyond').failure).toMatch(
      /^dataProviders\/dailynews: INSUFFICIENT_PRIVACY_BUDGET\./,
    );
    expect(titled('A filter').state).toBe('FAILED');
  });

  it('runs again on the same exchange, with the same audience and other noise', async () => {
    const again: DemoReport = JSON.parse(
      await mex('demo', '--population', '20000', '--seed', '7', '--report', file, '--json'),
    );
    expect(again.impressions).toEqual(report.impressions);
    const values = (of: DemoReport) => of.measurements.flatMap((m) => m.figures.map((f) => f.result.value));
    expect(values(again)).not.toEqual(values(report));
    expect(again.measurements.map((m) => m.figures.map((f) => f.truth))).toEqual(
      report.measurements.map((m) => m.figures.map((f) => f.truth)),
    );
  });
});

describe('a figure', () => {
  const result = { value: 100, variance: 4, standardDeviation: 2, interval: [96, 104] as [number, number] };
  it.each([
    [104, true, true],
    [105, false, true],
    [111, false, true],
    [112, false, false],
  ])('with the truth at %i', (truth, inside95, within5Sigma) => {
    expect(figureOf('dataProviders/x', 'reach', truth, result)).toMatchObject({ inside95, within5Sigma });
  });
});

describe('the report', () => {
  it.skipIf(lacksChromium)(
    'opens in a browser without a network, and shows every plot',
    async () => {
      const browser = await launchChromium();
      try {
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
        const plots = await page.locator('svg').evaluateAll((all) =>
          all.map((svg) => ({
            name: svg.getAttribute('aria-label')!,
            width: svg.getBoundingClientRect().width,
          })),
        );
        expect(plots.filter(({ name }) => name.startsWith('Reach:'))).toHaveLength(2);
        expect(plots.filter(({ name }) => name.includes('share of the people reached'))).toHaveLength(3);
        expect(plots.filter(({ name }) => name === 'Measurements by state')).toHaveLength(1);
        expect(plots.filter(({ name }) => name.startsWith('Every figure'))).toHaveLength(1);
        for (const { width } of plots) expect(width).toBeGreaterThan(300);

        // Marks lie inside their plots, and bars are as long as their figures say.
        const outside = await page.locator('svg').evaluateAll((all) =>
          all.flatMap((svg) => {
            const frame = svg.getBoundingClientRect();
            return [...svg.querySelectorAll('rect, path, text, circle')]
              .map((mark) => ({ mark: mark.outerHTML, box: mark.getBoundingClientRect() }))
              .filter(
                ({ box }) =>
                  box.left < frame.left - 1 ||
                  box.right > frame.right + 1 ||
                  box.bottom > frame.bottom + 1 ||
                  box.top < frame.top - 1,
              )
              .map(({ mark }) => mark);
          }),
        );
        expect(outside).toEqual([]);
        const bars = await page
          .locator('svg')
          .first()
          .locator('rect.bar')
          .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
        const reaches = titled('Reach and frequency').figures.filter(({ what }) => what === 'reach');
        expect(bars[1]! / bars[0]!).toBeCloseTo(reaches[1]!.result.value / reaches[0]!.result.value, 1);
        expect(await page.locator('tbody td:last-child').count()).toBe(
          report.measurements.flatMap((m) => m.figures).length,
        );
      } finally {
        await browser.close();
      }
    },
    60_000,
  );

  it('escapes what others wrote', async () => {
    const html = renderReport({
      ...report,
      measurements: [{ ...titled('A filter'), failure: '<script>alert(1)</script>' }],
    });
    expect(html).not.toContain('<script>');
    expect(await readFile(file, 'utf8')).not.toContain('<script');
  });
});
