/**
 * Tests the pages of computed reports in a real browser: a typical, an inconsistent and an incomplete report, and
 * reports with a lot of noise, a single segment, a frequency cap or hostile names.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Report } from '@measurement-exchange/reports';
import { lacksChromium, launchChromium } from '@measurement-exchange/testkit/chromium';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { NeedView } from '../src/reports/types.ts';
import { reportView } from '../src/reports/view.ts';
import { capped, computed, inflated } from './computedReports.ts';

type Measured = Pick<NeedView, 'measurement' | 'state' | 'reason'>;

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
/** The folder for pictures of every report, for review. */
const PICTURES = join(ROOT, 'node_modules/.cache/console-reports');
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; require-trusted-types-for 'script'";
const PAGE =
  '<!doctype html><html lang="en-US"><title>Report</title><meta name="viewport" content="width=device-width">' +
  '<link rel="stylesheet" href="/reportGallery.css"><script type="module" src="/reportGallery.js"></script><div id="root"></div></html>';

/** Returns the views of all reports in this test as JSON, keyed by their URL paths. */
async function viewsOf(): Promise<Map<string, string>> {
  const usual = await computed();
  const lost = await computed({ change: ({ union }, of) => (union === 7 ? undefined : of) });
  const small = await computed({ people: [0, 3, 2, 1, 2, 1, 1, 0] });
  const parts = await computed({ parts: { figures: [{ metric: 'reach', of: ['streamly'] }] } });
  const key = lost.plan.needs.find(({ union }) => union === 7)!.key;
  const failed = {
    measurement: 'measurementConsumers/acme/measurements/m1',
    state: 'FAILED',
    reason: 'Refused.',
  };
  const views = {
    usual: reportView(usual.report, answeredIn(usual.report), usual.rehearsal.charges),
    inconsistent: reportView((await inflated()).report),
    incomplete: reportView(lost.report, new Map([[key, failed]]), lost.rehearsal.charges),
    noise: reportView(small.report),
    single: reportView(parts.report),
    capped: reportView((await capped()).report),
    hostile: reportView(usual.report),
  };
  return new Map(Object.entries(views).map(([name, view]) => [`/${name}.json`, JSON.stringify(view)]));
}

/** Returns a separate successful measurement for each need. */
const answeredIn = ({ plan }: Report) =>
  new Map<string, Measured>(
    plan.needs.map(({ key }) => [key, { measurement: `measurements/${key}`, state: 'SUCCEEDED' }]),
  );

describe.skipIf(lacksChromium)('reports in a browser', () => {
  let browser: Browser;
  let server: Server;
  let axe: string;
  beforeAll(async () => {
    const entry = fileURLToPath(new URL('reportGallery.tsx', import.meta.url));
    const { outputFiles } = await build({
      ...{ entryPoints: [entry], bundle: true, write: false, outdir: '/', format: 'esm', jsx: 'automatic' },
      define: { 'process.env.NODE_ENV': '"production"' },
      target: 'es2024',
    });
    const files = new Map<string, Uint8Array | string>([
      ...outputFiles.map(({ path, contents }) => [path, contents] as const),
      ...(await viewsOf()),
    ]);
    server = createServer(({ url = '/' }, response) => {
      const [path = '/'] = url.split('?');
      const type = { js: 'text/javascript', css: 'text/css', json: 'application/json' }[
        path.split('.').at(-1)!
      ];
      response.setHeader('content-type', `${type ?? 'text/html'}; charset=utf-8`);
      response.setHeader('content-security-policy', POLICY);
      response.end(files.get(path) ?? PAGE);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    browser = await launchChromium();
    await rm(PICTURES, { recursive: true, force: true });
    await mkdir(PICTURES, { recursive: true });
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  async function open(view: string, width = 1440, colorScheme: 'light' | 'dark' = 'light') {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/?view=${view}`);
    await page.getByRole('heading', { name: 'Measured and corrected' }).waitFor();
    return { page, problems };
  }

  async function violationsOf(page: Page): Promise<string[]> {
    await page.evaluate(axe);
    return page.evaluate(async () => {
      const { axe } = globalThis as never as {
        axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
      };
      const { violations } = await axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 160)}`);
    });
  }

  it.each(['usual', 'inconsistent', 'incomplete', 'noise', 'single', 'capped', 'hostile'])(
    'the %s report fits phones and screens in both themes without axe violations',
    async (view) => {
      const found: string[] = [];
      const looks = [
        ...([
          [390, 'light'],
          [1440, 'dark'],
        ] as const),
        ...(view === 'usual'
          ? ([
              [360, 'dark'],
              [768, 'light'],
              [1440, 'light'],
            ] as const)
          : []),
      ];
      for (const [width, theme] of looks) {
        const { page, problems } = await open(view, width, theme);
        const wide = await page.evaluate(() => document.documentElement.scrollWidth);
        if (wide > width) found.push(`scrolls sideways at ${width} px: ${wide} px`);
        found.push(...(await violationsOf(page)), ...problems);
        await page.screenshot({ path: join(PICTURES, `${view}-${width}-${theme}.png`), fullPage: true });
        await page.close();
      }
      expect(found).toEqual([]);
    },
  );

  it('an inconsistent report names the publisher at the top, and has measured and corrected figures', async () => {
    const { page } = await open('inconsistent');
    const first = page.locator('.report > *').first();
    await first.getByText('chirper does not fit the others.').waitFor();
    const row = page.getByRole('row', { name: /^Reach of chirper/ });
    const [measured, corrected] = await row
      .getByRole('cell')
      .allTextContents()
      .then((cells) => cells.slice(1, 3));
    const number = (text: string) => Number(text.replaceAll(',', ''));
    expect(number(measured!)).toBeGreaterThan(number(corrected!) * 1.05);
    expect(await page.getByText('Inconsistent', { exact: true }).isVisible()).toBe(true);
    await page.close();
  });

  it('an incomplete report links to the failed measurement, and shows the other figures', async () => {
    const { page } = await open('incomplete');
    await page
      .getByText(/has no answer\. ?Refused\./)
      .first()
      .waitFor();
    expect(await page.getByRole('link', { name: 'Open the measurement' }).count()).toBe(1);
    expect(await page.getByText('No answer').first().isVisible()).toBe(true);
    await page.getByRole('button', { name: /^Show all/ }).click();
    expect(
      await page
        .getByRole('row', { name: /^Reach of streamly/ })
        .getByRole('cell')
        .nth(2)
        .textContent(),
    ).toMatch(/\d/);
    await page.close();
  });

  it('the cost card of a report shows the charge of each publisher and the number of answers', async () => {
    const { page } = await open('usual');
    const card = page.locator('section', { has: page.getByRole('heading', { name: 'What it cost' }) });
    expect(await card.getByText(/^\d+\.\d+ % of each of 28 days$/).count()).toBe(3);
    const answered = await card.getByText(/ answered: \d+ by duchies, 3 by publishers alone$/).textContent();
    const [all, byDuchies] = answered!.match(/\d+/g)!.map(Number);
    expect(all).toBe(byDuchies! + 3);
    await card.getByText('Free: every answer is already here').waitFor();
    await page.close();
    const lost = await open('incomplete');
    await lost.page.getByText('A measurement that failed counts here').waitFor();
    await lost.page.getByText('Asks only what has no answer, and only that is charged').waitFor();
    await lost.page.close();
  });

  it('a noisy report marks figures that are too small to tell from noise', async () => {
    const { page } = await open('noise');
    await page.getByText(/figures are too small to tell from noise\./).waitFor();
    expect(await page.getByText('Too small to tell from noise', { exact: true }).count()).toBeGreaterThan(1);
    await page.close();
  });

  it('a report shows hostile names as text, without an image', async () => {
    const { page } = await open('hostile');
    expect(await page.textContent('#root')).toContain('<img src=x onerror="alert(1)">');
    expect(await page.locator('img').count()).toBe(0);
    await page.close();
  });

  it('the cap, the order and the unit of a report change by keyboard', async () => {
    const { page } = await open('capped');
    const slider = page.getByRole('slider', { name: /What if everyone were capped at/ });
    await slider.focus();
    const saved = () => slider.getAttribute('aria-valuetext');
    expect(await saved()).toMatch(/^3: [\d,]+ impressions fewer$/);
    await page.keyboard.press('ArrowRight');
    expect(await saved()).toMatch(/^4: /);
    const added = page.getByRole('img', { name: /^What each adds/ });
    expect(await added.getAttribute('aria-label')).toContain('people. streamly starts with');
    await page.getByRole('button', { name: 'Move chirper up' }).focus();
    await page.keyboard.press('Enter');
    expect(await added.getAttribute('aria-label')).toContain('people. chirper starts with');
    await page.getByRole('radio', { name: '% of reach' }).focus();
    await page.keyboard.press('Space');
    await page.getByRole('img', { name: /^Who saw it where: share of all reached/ }).waitFor();
    await page.close();
  });

  it('a printed report shows no slider and no CSV button', async () => {
    const { page } = await open('usual');
    await page.emulateMedia({ media: 'print' });
    expect(await page.getByRole('slider').isVisible()).toBe(false);
    expect(await page.getByRole('button', { name: /^CSV/ }).first().isVisible()).toBe(false);
    const pdf = await page.pdf({ format: 'A4', path: join(PICTURES, 'usual.pdf') });
    expect(pdf.length).toBeGreaterThan(20_000);
    await page.close();
  });
});
