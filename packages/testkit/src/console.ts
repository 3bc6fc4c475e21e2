/** Opens the console of a real exchange in a real browser. Either `mex console` or the exchange serves the console. */

import { findIdentities } from '@measurement-exchange/cli/internal/console/identities';
import { loadConsole } from '@measurement-exchange/cli/internal/console/load';
import { type RunningConsole, startConsole } from '@measurement-exchange/cli/internal/console/server';
import { consolePages } from '@measurement-exchange/cli/internal/exchange/consolePages';
import type { Config } from '@measurement-exchange/exchange/config';
import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { lacksChromium, launchChromium } from './chromium.ts';
import { startExchange, type TestExchange } from './exchange.ts';
import { type ExchangeProcess, startExchangeProcess } from './process.ts';

export interface ConsoleOptions {
  /** Configuration of the exchange. */
  exchange?: Partial<Config>;
  /**
   * If true, the exchange runs as with `npm start`: with three duchies, and three publishers that answer requisitions.
   * This takes longer to start. The option `exchange` is then ignored.
   */
  alive?: boolean;
}

export interface PageOptions extends BrowserContextOptions {
  /** The path of the first page. */
  path?: string;
}

/**
 * A page and the errors that occurred in it: exceptions, console errors, and responses with a status of 500 or above.
 * `errors` does not contain the statuses 503 and 504 of a busy exchange, because the page retries those requests.
 */
export interface OpenPage {
  page: Page;
  context: BrowserContext;
  errors: string[];
}

export interface TestConsole {
  exchange: TestExchange | ExchangeProcess;
  browser: Browser;
  /**
   * Opens a page of `mex console --as <party>` in a separate browser profile. For a list of parties, the page shows all
   * of them.
   */
  open(party: string | string[], options?: PageOptions): Promise<OpenPage>;
  /**
   * Opens a page that the exchange serves, signed in as the demo party with this display name, such as `Acme
   * Beverages`.
   */
  openAtExchange(displayName: string, options?: PageOptions): Promise<OpenPage>;
  close(): Promise<void>;
}

export async function openConsole(options: ConsoleOptions = {}): Promise<TestConsole> {
  await using opened = new AsyncDisposableStack();
  const browser = await launchChromium();
  opened.defer(() => browser.close());
  const exchange = options.alive ? await startAlive(opened) : await startQuiet(options.exchange, opened);
  const dataDirBefore = process.env.MEX_DATA_DIR;
  process.env.MEX_DATA_DIR = exchange.dataDir;
  opened.defer(() => {
    if (dataDirBefore === undefined) delete process.env.MEX_DATA_DIR;
    else process.env.MEX_DATA_DIR = dataDirBefore;
  });
  const files = await loadConsole();
  const all = opened.move();
  return {
    exchange,
    browser,
    async open(party, { path = '/', ...contextOptions } = {}) {
      const identities = await findIdentities({ as: [party].flat() });
      const running = await startConsole({ identities, files });
      all.defer(() => running.stop());
      const context = await patientContext(browser, contextOptions);
      all.defer(() => context.close());
      return show(context, running, path);
    },
    async openAtExchange(displayName, { path = '/', ...contextOptions } = {}) {
      const context = await patientContext(browser, contextOptions);
      all.defer(() => context.close());
      const page = await context.newPage();
      const errors = watchErrors(page);
      await page.goto(`${exchange.url}${path}`);
      await page.getByRole('button', { name: displayName }).click();
      await page.locator('.app').waitFor();
      return { page, context, errors };
    },
    close: () => all.disposeAsync(),
  };
}

async function startQuiet(
  config: Partial<Config> | undefined,
  opened: AsyncDisposableStack,
): Promise<TestExchange> {
  const pages = await consolePages({ issuers: config?.issuers ?? [] });
  const exchange = await startExchange(config, undefined, pages);
  opened.defer(async () => {
    expect(await exchange.stop()).toEqual([]);
  });
  return exchange;
}

async function startAlive(opened: AsyncDisposableStack): Promise<ExchangeProcess> {
  const exchange = await startExchangeProcess({
    env: { MEX_CONSOLE: 'on', MEX_DUCHIES: 'on', MEX_AGENTS: 'on' },
  });
  opened.defer(async () => {
    await exchange.kill();
    await exchange.remove();
  });
  return exchange;
}

/**
 * Creates a browser context whose timeout is far above Playwright's default, because tests share the processor with
 * other tests.
 */
async function patientContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  const context = await browser.newContext(options);
  context.setDefaultTimeout(120_000);
  return context;
}

/** Signs the browser in with a new link of the console, and then opens the path. */
async function show(context: BrowserContext, running: RunningConsole, path: string): Promise<OpenPage> {
  const page = await context.newPage();
  const errors = watchErrors(page);
  await page.goto(running.newLink());
  if (path !== '/') await page.goto(`${running.url}${path}`);
  await page.locator('#main').waitFor();
  return { page, context, errors };
}

/** The statuses of a busy exchange. The browser also logs each such response as an error. */
const BUSY = [503, 504];
const BUSY_LOGGED = new RegExp(`responded with a status of (?:${BUSY.join('|')}) `);

export function watchErrors(page: Page): string[] {
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  page.on('console', (message) => {
    const text = message.text();
    if (message.type() === 'error' && !BUSY_LOGGED.test(text))
      errors.push(`${text} ${message.location().url}`);
  });
  page.on('response', (response) => {
    const status = response.status();
    if (status >= 500 && !BUSY.includes(status)) errors.push(`${status} ${response.url()}`);
  });
  return errors;
}

/**
 * Opens the console before the tests of the caller's file, and closes it after them. The returned object is filled when
 * the console is open. It stays empty if this machine has no browser.
 */
export function useConsole(options: ConsoleOptions = {}): TestConsole {
  const console = {} as TestConsole;
  beforeAll(async () => {
    if (!lacksChromium) Object.assign(console, await openConsole(options));
  });
  afterAll(() => console.close?.());
  return console;
}
