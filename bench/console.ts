/**
 * Measures the console in a real browser: the size of its first load, the time to show a list of many measurements, and
 * the delay until a change shows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { findIdentities } from '@measurement-exchange/cli/internal/console/identities';
import { loadConsole } from '@measurement-exchange/cli/internal/console/load';
import { startConsole } from '@measurement-exchange/cli/internal/console/server';
import { loadMeasurements } from '@measurement-exchange/testkit/bulk';
import { launchChromium } from '@measurement-exchange/testkit/chromium';
import type { Page } from 'playwright-core';
import { type BenchExchange, startExchange } from './lib/exchange.ts';
import { figure, show } from './lib/figures.ts';
import type { Bench } from './lib/options.ts';
import { atMost, printTable, progress, type Section } from './lib/report.ts';
import { createWorld } from './lib/world.ts';

const MEASUREMENTS = 100_000;
/** The call that the console's list page sends, relative to the name of the consumer. */
const LIST = 'measurements?pageSize=50&orderBy=createTime%20desc';
const ROW = 'table.measurements tbody tr:not(.spacer)';

export async function webConsole(bench: Bench): Promise<Section> {
  const database = await bench.server.createDatabase();
  const exchange = await startExchange({ databaseUrl: database.url });
  await using opened = new AsyncDisposableStack();
  opened.defer(async () => {
    await exchange.stop();
    await database.drop();
  });
  const { consumer, providers } = await createWorld(exchange, database);
  progress(`console: ${MEASUREMENTS.toLocaleString('en-US')} measurements`);
  await loadMeasurements(database, { consumer, providers, count: MEASUREMENTS });
  await database.query('VACUUM ANALYZE');
  process.env.MEX_DATA_DIR = exchange.dataDir;
  const identities = await findIdentities({ as: [consumer.name] });
  const server = await startConsole({ identities, files: await loadConsole() });
  opened.defer(() => server.stop());
  const browser = await launchChromium();
  opened.defer(() => browser.close());

  const rounds: Round[] = [];
  for (let round = 0; round <= bench.rounds; round++) {
    progress(`console: round ${round} of ${bench.rounds}`);
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    const page = await context.newPage();
    const firstLoad = await loadedKilobytes(page, server.newLink());
    const apiMs = await callMs(exchange, consumer);
    const rowsMs = await firstRowsMs(page);
    const changeMs = await changeShowsMs(page, exchange, consumer);
    await context.close();
    // The first round only fills caches, so it does not count.
    if (round > 0) rounds.push({ firstLoad, apiMs, rowsMs, changeMs });
  }
  const of = (key: keyof Round) => rounds.map((round) => round[key]);
  const beyond = figure(rounds.map(({ rowsMs, apiMs }) => rowsMs - 1.2 * apiMs));
  printTable(`The console, with ${MEASUREMENTS.toLocaleString('en-US')} measurements`, [
    { what: 'first load, compressed, kB', figure: show(figure(of('firstLoad'))) },
    { what: 'the API call of the list, ms', figure: show(figure(of('apiMs'))) },
    { what: 'first rows after the click, ms', figure: show(figure(of('rowsMs'))) },
    {
      what: 'a change is on the page after the call that made it began, ms',
      figure: show(figure(of('changeMs'))),
    },
  ]);
  return {
    name: 'console',
    data: rounds,
    verdicts: [
      atMost('first load of the console, compressed, kB', figure(of('firstLoad')), 250),
      atMost('first rows beyond 1.2 × the API call, ms', beyond, 100),
      atMost('change on the page, ms', figure(of('changeMs')), 300),
    ],
  };
}

interface Round {
  firstLoad: number;
  apiMs: number;
  rowsMs: number;
  changeMs: number;
}

interface Caller {
  name: string;
  token: string;
}

/**
 * Opens the first page of the console. Returns the compressed size of the documents, scripts and style sheets that the
 * page loads, in kB (1,000 bytes).
 */
async function loadedKilobytes(page: Page, link: string): Promise<number> {
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    if (!['document', 'script', 'stylesheet'].includes(request.resourceType())) return;
    sizes.push(request.sizes().then(({ responseBodySize }) => responseBodySize));
  });
  await page.goto(link);
  await page.locator(ROW).first().waitFor();
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0) / 1000;
}

async function callMs({ call }: BenchExchange, { name, token }: Caller): Promise<number> {
  const started = performance.now();
  await call(token, 'GET', `${name}/${LIST}`);
  return performance.now() - started;
}

/**
 * Clicks the entry of the measurement list in the sidebar. Returns the time until the first row of the list is drawn.
 */
async function firstRowsMs(page: Page): Promise<number> {
  await page.getByRole('button', { name: /^Find/ }).waitFor();
  return page.evaluate(async (selector) => {
    const rows = `.page ${selector}`;
    const link = document.querySelector('nav a[href="/measurements"]');
    const started = performance.now();
    (link as HTMLElement).click();
    // The home page also has a table of measurements, but only the rows of the list have the attribute `data-index`.
    while (location.pathname !== '/measurements' || document.querySelector(`${rows}[data-index]`) === null) {
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    return performance.now() - started;
  }, ROW);
}

/** Cancels the first open measurement in the list, and returns the time until its row shows the cancellation. */
async function changeShowsMs(page: Page, { call }: BenchExchange, { name, token }: Caller): Promise<number> {
  await page.locator('.live:not(.off)').waitFor();
  const row = page
    .locator(ROW)
    .filter({ hasText: /Waits|Waiting|Asked/ })
    .first();
  const path = await row.locator('a').first().getAttribute('href');
  const id = path!.split('/').at(-1)!;
  await sleep(200);
  const shown = page.evaluate(async (href) => {
    const isCanceled = () =>
      document.querySelector(`a[href="${href}"]`)?.closest('tr')?.textContent?.includes('Canceled');
    while (!isCanceled()) await new Promise((resolve) => setTimeout(resolve, 5));
    return Date.now();
  }, path!);
  const started = Date.now();
  await call(token, 'POST', `${name}/measurements/${id}:cancel`, {});
  return (await shown) - started;
}
