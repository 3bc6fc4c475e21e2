/**
 * Tests every page of every role, at three widths and in both themes. The exchange starts in the same way as with
 * `npm start`. `MEX_PICTURES=1` saves pictures of all pages in node_modules/.cache/console-pages for review, and renews
 * the picture in README.
 */
import { mkdir, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { useConsole } from '@measurement-exchange/testkit/console';
import type { Page as BrowserPage } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { PAGES } from '../src/app/pages.ts';
import type { Role } from '../src/session/roles.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const PICTURES = join(ROOT, 'node_modules/.cache/console-pages');
const isTakingPictures = process.env.MEX_PICTURES !== undefined;
const WIDTHS = [360, 768, 1440];
const PARTIES: [party: string, role: Role][] = [
  ['acme', 'consumer'],
  ['northlight', 'provider'],
  ['alpha', 'duchy'],
  ['operator', 'operator'],
];

const c = useConsole({ alive: true });
let axe: string;

beforeAll(async () => {
  axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  if (isTakingPictures) {
    await rm(PICTURES, { recursive: true, force: true });
    await mkdir(PICTURES, { recursive: true });
  }
  if (!lacksChromium) await Promise.all([untilAnswered(), untilReported()]);
});

/** Waits until the first measurements of the demo have results. */
async function untilAnswered(): Promise<void> {
  const { page, context } = await c.open('acme', { path: '/measurements' });
  const answered = page.locator('tbody tr', { hasText: 'Succeeded' });
  await answered.nth(3).waitFor({ timeout: 120_000 });
  await context.close();
}

/** Runs a report, and waits until it is complete. */
async function untilReported(): Promise<void> {
  const { page, context } = await c.open('acme', { path: '/reports/new' });
  await page.locator('button:enabled', { hasText: 'Run this report' }).click({ timeout: 120_000 });
  await page.getByText('Complete', { exact: true }).waitFor({ timeout: 170_000 });
  await context.close();
}

/** Opens a page, and waits until it has loaded all data. */
async function go(page: BrowserPage, path: string): Promise<void> {
  await page.goto(new URL(path, page.url()).href);
  await page.getByRole('heading', { level: 1 }).waitFor();
  // The page requests its data only after it is shown.
  await page.waitForTimeout(400);
  await page.waitForFunction(() => document.querySelector('[aria-busy=true], .sk') === null, undefined, {
    timeout: 90_000,
  });
}

/**
 * Looks at every page of the role, and returns the problems found. For a path with parameters, follows a link from
 * another page.
 */
async function lookAtAll(page: BrowserPage, role: Role): Promise<string[]> {
  const problems: string[] = [];
  const patterns = PAGES.filter(({ roles }) => roles.includes(role)).map(({ path }) => path);
  const paths = patterns.filter((path) => !path.includes('$'));
  const measurements = new Set<string>();
  for (const path of paths) {
    await go(page, path);
    const links = await page
      .locator('a[href]')
      .evaluateAll((all) => all.map((a) => (a as HTMLAnchorElement).pathname));
    for (const link of links) if (/^\/measurements\/./.test(link)) measurements.add(link);
    for (const pattern of patterns.filter((pattern) => pattern.includes('$'))) {
      const fits = new RegExp(`^${pattern.replaceAll(/\$\w+/g, '[^/]+')}$`);
      const isFound = paths.some((path) => fits.test(path) && !patterns.includes(path));
      const link = links.find((link) => fits.test(link) && !patterns.includes(link));
      if (!isFound && link !== undefined) paths.push(link);
    }
    problems.push(...(await look(page, nameOf(role, path))));
  }
  const names = [...measurements].slice(0, 2).map((path) => path.split('/').at(-1));
  if (names.length > 1) {
    await go(page, `/compare?names=${names.join(',')}`);
    problems.push(...(await look(page, `${role}-compare`)));
  }
  return problems;
}

function nameOf(role: Role, path: string): string {
  const name = path.slice(1).replaceAll(/[/?=,]/g, '-');
  return `${role}-${name.slice(0, 40) || 'home'}`;
}

/** Looks at the page at each width and in each theme, and returns the problems found. */
async function look(page: BrowserPage, name: string): Promise<string[]> {
  const problems: string[] = [];
  for (const width of WIDTHS) {
    await fit(page, width);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      if (isTakingPictures) {
        await page.screenshot({ path: join(PICTURES, `${name}-${width}-${colorScheme}.png`) });
      }
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      if (wide > width) problems.push(`${name} scrolls sideways at ${width} px: ${wide} px`);
      if (width === 768) continue;
      const violations = await violationsOf(page, colorScheme === 'dark' ? COLOR_RULES : undefined);
      problems.push(...violations.map((what) => `${name}, ${width} px, ${colorScheme}: ${what}`));
    }
  }
  return problems;
}

/**
 * Makes the window as high as the page, up to 6,000 px. Repeats this, because a long table may grow when the window
 * shows more rows.
 */
async function fit(page: BrowserPage, width: number): Promise<void> {
  for (let [height, before] = [900, 0]; height > before; ) {
    await page.setViewportSize({ width, height });
    before = height;
    height = await page.evaluate(async () => {
      for (let frame = 0; frame < 3; frame++) await new Promise(requestAnimationFrame);
      return Math.min(document.documentElement.scrollHeight, 6000);
    });
  }
}

/** The rules of axe that depend on the theme. */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/** Runs the given rules of axe, or all rules if `rules` is undefined, and returns the violations. */
async function violationsOf(page: BrowserPage, rules: string[] | undefined): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(async (values) => {
    const { axe } = globalThis as never as {
      axe: { run(options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
    };
    const { violations } = await axe.run(values ? { runOnly: { type: 'rule', values } } : {});
    return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html.slice(0, 160)}`);
  }, rules);
}

describe.skipIf(lacksChromium).concurrent('the pages of the console', () => {
  it.each(PARTIES)('of %s fit three widths in both themes without axe violations', async (party, role) => {
    const { page, errors } = await c.open(party);
    expect(await lookAtAll(page, role)).toEqual([]);
    expect(errors).toEqual([]);
  });

  it('for signing in fit three widths in both themes without axe violations', async () => {
    const { page } = await c.open(PARTIES.map(([party]) => party));
    expect(await look(page, 'sign-in')).toEqual([]);
  });

  it('include a result for the README, with a picture below 120 kB', async () => {
    const { page } = await c.open('acme', { path: '/measurements', viewport: { width: 1120, height: 640 } });
    await page
      .getByRole('link', { name: /each counted once/ })
      .first()
      .click();
    await page.getByText('95 %:').first().waitFor();
    const path = join(ROOT, 'docs/images/console.png');
    const picture = await page.screenshot(isTakingPictures ? { path } : {});
    expect(picture.length).toBeLessThan(120_000);
  });
});
