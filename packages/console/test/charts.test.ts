/**
 * Tests every chart and every result in a real browser, at two window widths, in both themes, and under a strict
 * content security policy.
 */
import { readFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { lacksChromium, launchChromium } from '@measurement-exchange/testkit/chromium';
import { build } from 'esbuild';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; require-trusted-types-for 'script'";
const PAGE =
  '<!doctype html><html lang="en-US"><title>Charts</title><meta name="viewport" content="width=device-width">' +
  '<link rel="stylesheet" href="/gallery.css"><script type="module" src="/gallery.js"></script><div id="root"></div></html>';

describe.skipIf(lacksChromium)('charts and results in a browser', () => {
  let browser: Browser;
  let server: Server;
  let axe: string;
  beforeAll(async () => {
    const entry = fileURLToPath(new URL('gallery.tsx', import.meta.url));
    const { outputFiles } = await build({
      ...{ entryPoints: [entry], bundle: true, write: false, outdir: '/', format: 'esm', jsx: 'automatic' },
      define: { 'process.env.NODE_ENV': '"production"' },
    });
    const files = new Map(outputFiles.map(({ path, contents }) => [path, contents]));
    server = createServer(({ url = '/' }, response) => {
      const type = url.endsWith('.js') ? 'text/javascript' : url.endsWith('.css') ? 'text/css' : 'text/html';
      response.setHeader('content-type', `${type}; charset=utf-8`);
      response.setHeader('content-security-policy', POLICY);
      response.end(files.get(url) ?? PAGE);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    server?.close();
  });

  async function open(
    width: number,
    colorScheme: 'light' | 'dark',
  ): Promise<{ page: Page; problems: string[] }> {
    const page = await browser.newPage({ viewport: { width, height: 900 }, colorScheme });
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (message) => message.type() === 'error' && problems.push(message.text()));
    await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    await page.getByRole('heading', { name: 'Verified' }).waitFor();
    return { page, problems };
  }

  it.each([
    [360, 'light'],
    [360, 'dark'],
    [1440, 'light'],
    [1440, 'dark'],
  ] as const)('fit a page of %i px in the %s theme without axe violations', async (width, theme) => {
    const { page, problems } = await open(width, theme);
    const { scrollWidth, small } = await page.evaluate(() => ({
      scrollWidth: document.documentElement.scrollWidth,
      small: [...document.querySelectorAll('text, .dw *, .heat *')]
        .filter((element) => Number.parseFloat(getComputedStyle(element).fontSize) < 11.5)
        .map((element) => element.outerHTML.slice(0, 100)),
    }));
    expect({ scrollWidth, small }).toEqual({ scrollWidth: width, small: [] });
    await page.evaluate(axe);
    const violations = await page.evaluate(async () => {
      const { violations } = await (
        globalThis as never as { axe: { run(): Promise<{ violations: Violation[] }> } }
      ).axe.run();
      return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 160)}`);
    });
    expect(violations).toEqual([]);
    expect(problems).toEqual([]);
    await page.close();
  });

  it('have labels that do not overlap each other', async () => {
    for (const width of [360, 1440]) {
      const { page } = await open(width, 'light');
      const overlaps = await page.getByRole('img').evaluateAll((charts) =>
        charts.flatMap((chart) => {
          const boxes = [...chart.querySelectorAll('text, .dl, .num')]
            .map((element) => ({
              text: element.textContent!.slice(0, 40),
              box: element.getBoundingClientRect(),
            }))
            .filter(({ box }) => box.width > 0);
          return boxes.flatMap((a, i) =>
            boxes
              .slice(i + 1)
              .filter(
                (b) =>
                  a.box.left < b.box.right - 1 &&
                  b.box.left < a.box.right - 1 &&
                  a.box.top < b.box.bottom - 1 &&
                  b.box.top < a.box.bottom - 1,
              )
              .map((b) => `${chart.getAttribute('aria-label')!.slice(0, 30)}: ${a.text} and ${b.text}`),
          );
        }),
      );
      expect(overlaps).toEqual([]);
      await page.close();
    }
  });

  it('show names as text, and an unknown error as unknown', async () => {
    const { page } = await open(1440, 'light');
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.getByText('error unknown').first().isVisible()).toBe(true);
    expect(await page.getByText('Do not use this result.').isVisible()).toBe(true);
    expect(await page.getByText('Failed at step 3').isVisible()).toBe(true);
    await page.close();
  });

  it('can be shown as a table, and saved as CSV and PNG', async () => {
    const { page } = await open(1440, 'dark');
    const card = page.locator('.card', {
      has: page.getByRole('heading', { name: 'Each person once: people' }),
    });
    await card.getByRole('button', { name: 'As a table' }).click();
    expect(await card.getByRole('cell', { name: '437,204' }).isVisible()).toBe(true);
    const saved = async (button: string) => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        card.getByRole('button', { name: button }).click(),
      ]);
      return { name: download.suggestedFilename(), file: await readFile(await download.path()) };
    };
    const csv = await saved('CSV');
    expect(csv.name).toBe('adding-up.csv');
    expect(String(csv.file)).toContain('Each person once,437204,437075,437333\r\n');
    const png = await saved('PNG');
    expect(png.name).toBe('adding-up.png');
    expect(png.file.subarray(1, 4).toString()).toBe('PNG');
    // The saved picture has two pixels for each CSS pixel, and a margin. An empty picture of this size would have 10
    // kB.
    const { width } = (await card.getByRole('img').boundingBox())!;
    expect(png.file.readUInt32BE(16)).toBe(Math.floor((width + 48) * 2));
    expect(png.file.length).toBeGreaterThan(20_000);
    await page.close();
  });
});

interface Violation {
  id: string;
  nodes: { html: string }[];
}
