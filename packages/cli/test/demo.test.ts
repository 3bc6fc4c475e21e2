/** The demo, on an exchange that it starts with three duchies, and its report as a browser shows it. */
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { lacksChromium, launchChromium } from '@measurement-exchange/testkit/chromium';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { printReport } from '../src/demo/command.ts';
import type { DemoReport } from '../src/demo/figures.ts';
import { figureOf, reachesTogether } from '../src/demo/figures.ts';
import { renderReport } from '../src/demo/report.ts';
import { type Audience, createAudiences } from '../src/publishers/audience.ts';
import { mex } from './mexInProcess.ts';

vi.setConfig({ testTimeout: 120_000 });

let folder: string;
let file: string;
let report: DemoReport;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-demo-test-'));
  file = join(folder, 'report.html');
  vi.stubEnv('MEX_DATA_DIR', join(folder, 'data'));
  vi.stubEnv('DATABASE_URL', undefined);
  report = JSON.parse(await demo('--json'));
}, 240_000);
afterAll(() => rm(folder, { recursive: true }));

const demo = (...options: string[]) =>
  mex('demo', '--population', '20000', '--seed', '7', '--report', file, ...options);
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
    const reaches = report.measurements.flatMap((m) => m.figures).filter(({ what }) => what === 'reach');
    expect(reaches).toHaveLength(7);
    for (const { result } of reaches) expect(result.standardDeviation).toBeGreaterThan(1);
    const [people] = titled('Population').figures;
    expect(people!.result.value).toBe(people!.truth);
    expect(people!.result.standardDeviation).toBe(0);
  });

  it('counts everybody once whom several providers reached, unlike the sum of their figures', () => {
    const alone = report.measurements.flatMap(({ title, figures }) =>
      title.endsWith(' alone') ? figures : [],
    );
    const reaches = alone.filter(({ what }) => what === 'reach').map(({ result }) => result.value);
    const { truth, result, claimed } = reachesTogether(report)[0]!;
    expect(claimed).toBe(reaches.reduce((sum, reach) => sum + reach, 0));
    expect(claimed - truth).toBeGreaterThan(20 * result.standardDeviation);
    const shares = titled('Reach and frequency, all').figures.filter(({ what }) => what !== 'reach');
    expect(shares).toHaveLength(8);
    for (const whose of ['truth', 'claimed'] as const) {
      expect(shares.reduce((sum, share) => sum + share[whose]!, 0)).toBeCloseTo(1, 1);
    }
    // Who adds up takes two people who saw it once for one who saw it twice.
    expect(shares[0]!.claimed! - shares[0]!.truth).toBeGreaterThan(0.1);
  });

  it('counts everybody once by each of the three protocols', () => {
    const reaches = reachesTogether(report);
    expect(reaches.map(({ protocol }) => protocol)).toEqual([
      'honestMajorityShareShuffle',
      'reachOnlyLiquidLegionsV2',
      'liquidLegionsV2',
    ]);
    expect(new Set(reaches.map(({ truth }) => truth)).size).toBe(1);
    const [exact, ...sketched] = reaches.map(({ result }) => result.standardDeviation);
    for (const deviation of sketched) expect(deviation).toBeGreaterThan(exact!);
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

  it('prints a table for each question, and the figure of all publishers at the end', () => {
    const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true);
    printReport(report, file);
    const out = write.mock.calls.join('');
    write.mockRestore();
    for (const { title } of report.measurements) expect(out).toContain(title);
    expect(out).toMatch(
      /Pictures: .*report\.html\n\nAll publishers together reached [\d,]+ people \(95 %: [\d,]+ to [\d,]+\), each counted once; truth [\d,]+\.\nAdding up their figures would have claimed [\d,]+, [+−-]\d+ %\.\n$/,
    );
  });

  it('needs duchies, and says so where there are none', async () => {
    const server = createServer((_, response) => response.end('ok')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    try {
      vi.stubEnv('MEX_DATA_DIR', folder);
      await writeFile(join(folder, 'dev.json'), JSON.stringify({ baseUrl, duchies: [] }));
      await expect(demo()).rejects.toThrow(/without duchies: start it without MEX_DUCHIES=off/);
    } finally {
      vi.stubEnv('MEX_DATA_DIR', join(folder, 'data'));
      server.close();
    }
  });

  it('keeps the order of the people for the next time', async () => {
    const kept = await readdir(join(folder, 'data', 'demo'));
    expect(kept.filter((name) => name.endsWith('.vids'))).toHaveLength(1);
    expect(await readdir(join(folder, 'data', 'demo', 'shares'))).toEqual([]);
  });
});

const PROVIDERS = ['dataProviders/a', 'dataProviders/b', 'dataProviders/c'];
it('the same seed gives the same audiences, another seed others', async () => {
  const instance = await DuckDBInstance.create(':memory:');
  const db = await instance.connect();
  const audience = async (seed: number) => {
    const directory = await mkdtemp(join(folder, 'audience-'));
    const options = { dataProviders: PROVIDERS, directory, seed, population: 1000 };
    const [{ file }] = (await createAudiences(db, options)) as [Audience];
    return (await db.runAndReadAll(`SELECT * FROM '${file}' ORDER BY ALL`)).getRowsJson();
  };
  try {
    const first = await audience(1);
    expect(await audience(1)).toEqual(first);
    expect(await audience(2)).not.toEqual(first);
  } finally {
    db.closeSync();
    instance.closeSync();
  }
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
        expect(plots.filter(({ name }) => name === 'Reach of all providers together')).toHaveLength(1);
        expect(plots.filter(({ name }) => name.includes('share of the people reached'))).toHaveLength(5);
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
          .locator('rect')
          .evaluateAll((all) => all.map((bar) => bar.getBoundingClientRect().width));
        const { truth, result, claimed } = reachesTogether(report)[0]!;
        expect(bars).toHaveLength(3);
        expect(bars[1]! / bars[0]!).toBeCloseTo(result.value / truth, 2);
        expect(bars[2]! / bars[0]!).toBeCloseTo(claimed / truth, 2);
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
    const failure = '<script>alert(1)</script>';
    const measurements = report.measurements.map((m) => (m.failure === undefined ? m : { ...m, failure }));
    const html = renderReport({ ...report, measurements });
    expect(html).toContain('alert(1)');
    expect(html).not.toContain('<script>');
    expect(await readFile(file, 'utf8')).not.toContain('<script');
  });
});
