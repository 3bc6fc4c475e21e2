/** Tests the pages of a consumer in a real browser: home, the list, and one measurement, with and without failures. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { ExchangeError } from '@measurement-exchange/contract';
import { type Consumer, createConsumer, createTrustStore } from '@measurement-exchange/sdk';
import { loadMeasurements } from '@measurement-exchange/testkit/bulk';
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { useConsole } from '@measurement-exchange/testkit/console';
import type { TestExchange } from '@measurement-exchange/testkit/exchange';
import {
  events,
  fulfillWith,
  type Party,
  PRIVACY,
  partyOf,
  reach,
  requisitionOf,
} from '@measurement-exchange/testkit/world';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';

const c = useConsole();
const MARKUP = '<img src=x onerror="document.title=1"> ';
const RIGHT_TO_LEFT = '\u202etfel ot thgir\u2067';

let parties: { acme: Party; streamly: Party; chirper: Party };
let consumer: Consumer;

beforeAll(async () => {
  if (lacksChromium) return;
  const exchange = c.exchange as TestExchange;
  const [acme] = exchange.dev.measurementConsumers.map((dev) => partyOf(exchange, dev));
  const [streamly, chirper] = exchange.dev.dataProviders.map((dev) => partyOf(exchange, dev));
  parties = { acme: acme!, streamly: streamly!, chirper: chirper! };
  const { certificatePem: pem } = JSON.parse(await readFile(join(exchange.dataDir, 'dev-root.json'), 'utf8'));
  const trust = createTrustStore([{ pem }]);
  consumer = createConsumer({ client: acme!.client, credentials: acme!, trust });
});

/** Asks for the reach of these publishers, and returns the name of the measurement. */
async function ask(title: string, providers: Party[], referenceId?: string): Promise<string> {
  const { name } = await consumer.create({
    type: 'reach',
    title,
    privacy: PRIVACY,
    dataProviders: events(...providers),
    ...(referenceId !== undefined && { referenceId }),
  });
  return name!;
}

const idOf = (name: string) => name.split('/').at(-1)!;
const rowsOf = (page: Page) => page.locator('table.measurements tbody tr:not(.spacer)');

/** Checks that the page does not scroll sideways, and that axe finds no violation. */
async function expectSound(page: Page): Promise<void> {
  for (const [width, colorScheme] of [
    [768, 'light'],
    [360, 'light'],
    [1440, 'dark'],
  ] as const) {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 900 });
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    if (width !== 768) expect(await violationsIn(page)).toEqual([]);
  }
}

async function violationsIn(page: Page): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; nodes: { html: string }[] }[];
  };
  return violations.map(({ id, nodes }) => `${id}: ${nodes[0]!.html}`);
}

describe.skipIf(lacksChromium)('a consumer', () => {
  it('sees a first measurement appear, succeed and be verified without reloading the page', async () => {
    const { page, errors } = await c.open('acme');
    await page.getByRole('heading', { name: 'Ask your first question' }).waitFor();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toMatch(/^Good \w+, /);

    const name = await ask('Autumn, everyone', [parties.streamly]);
    const second = await c.open('acme', { path: `/measurements/${idOf(name)}` });
    await rowsOf(page).filter({ hasText: 'Autumn, everyone' }).filter({ hasText: 'Waiting' }).waitFor();
    await second.page.getByRole('heading', { name: 'Autumn, everyone' }).waitFor();
    const why = second.page.getByRole('region', { name: 'Why' });
    expect(await why.textContent()).toContain('Waits for');

    await fulfillWith(parties.streamly, name, reach(420_731n));
    const row = rowsOf(page).filter({ hasText: 'Succeeded' });
    await row.getByText('420,731').waitFor();
    expect(await row.textContent()).toMatch(/± \d/);
    await row.getByText('Verified here').waitFor();
    await second.page.getByText('420,731').first().waitFor();
    expect(await why.count()).toBe(0);
    await expectSound(page);
    await expectSound(second.page);
    expect([...errors, ...second.errors]).toEqual([]);
  });

  it('sees deferrals and refusals with their reasons, and confirms a cancellation in a dialog', async () => {
    const name = await ask('Weekend test', [parties.streamly, parties.chirper]);
    const { page, errors } = await c.open('acme', { path: `/measurements/${idOf(name)}` });
    await page.getByText('2 publishers').waitFor();
    await fulfillWith(parties.streamly, name, reach(1000n));
    const requisition = await requisitionOf(parties.chirper, name);
    const until = new Date(Date.now() + 86_400_000).toISOString();
    await parties.chirper.client.deferRequisition({
      name: requisition.name!,
      body: { reason: `${MARKUP}late`, until },
    });
    await page.getByRole('heading', { name: /will have the data on/ }).waitFor();
    await page.locator('.why q').getByText(`${MARKUP}late`).waitFor();

    await expectSound(page);
    await page.getByRole('button', { name: 'Cancel measurement' }).click();
    const dialog = page.getByRole('dialog');
    expect(await dialog.textContent()).toContain('1 of 2 publishers has already answered');
    await dialog.getByRole('button', { name: 'Keep it' }).click();
    await page.getByRole('button', { name: 'Cancel measurement' }).click();
    await dialog.getByRole('button', { name: 'Cancel measurement' }).click();
    await page.getByRole('heading', { name: 'You canceled it' }).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel measurement' }).count()).toBe(0);

    const other = await ask('Retargeting', [parties.chirper]);
    const { name: refused, etag } = await requisitionOf(parties.chirper, other);
    const message = 'BUDGET_EXCEEDED at events[0], day 31';
    await parties.chirper.client.refuseRequisition({
      name: refused!,
      body: { etag: etag!, refusal: { justification: 'INSUFFICIENT_PRIVACY_BUDGET', message } },
    });
    await page.goto(new URL('/', page.url()).href);
    const attention = page.getByRole('region', { name: 'Needs your attention' });
    await attention.getByText(/budget for January 31 is used up/).waitFor();
    expect(errors).toEqual([]);
  });

  it('filters by reference with the URL, and sees hostile titles as text', async () => {
    await ask(`${MARKUP}${RIGHT_TO_LEFT}`, [parties.streamly], RIGHT_TO_LEFT);
    await ask('x'.repeat(200), [parties.streamly], '1.0');
    const { page, errors } = await c.open('acme', { path: '/measurements?reference=1.0' });
    await rowsOf(page).getByText('x'.repeat(200)).waitFor();
    expect(await rowsOf(page).count()).toBe(1);
    await page.getByLabel('Only with this reference').fill(RIGHT_TO_LEFT);
    await page.keyboard.press('Enter');
    const title = rowsOf(page).getByText('<img src=x');
    await title.waitFor();
    expect(await title.evaluate((element) => getComputedStyle(element).unicodeBidi)).toBe('isolate');
    expect(await page.locator('img').count()).toBe(0);
    expect(new URL(page.url()).searchParams.get('reference')).toBe(RIGHT_TO_LEFT);
    await page.goto(new URL('/measurements?show=failed', page.url()).href);
    await rowsOf(page).locator('.chip').getByText('Refused').waitFor();
    expect(await rowsOf(page).count()).toBe(1);
    expect(errors).toEqual([]);
  });

  it('compares measurements side by side', async () => {
    const { page } = await c.open('acme', { path: '/measurements?show=done' });
    const other = await ask('Autumn again', [parties.streamly]);
    await fulfillWith(parties.streamly, other, reach(400_000n));
    await page.getByLabel('Compare Autumn again').check();
    await page.getByLabel('Compare Autumn, everyone').check();
    await page.getByRole('link', { name: 'Compare 2' }).click();
    await page.getByText('420,731').first().waitFor();
    await page.getByText('400,000').first().waitFor();
    await expectSound(page);
  });

  it('sees the last data while the exchange is unreachable, and current data after a retry', async () => {
    const { page } = await c.open('acme');
    await rowsOf(page).getByText('Autumn, everyone').waitFor();
    await page.route('**/v2alpha/**', (route) => route.abort());
    await page.getByRole('link', { name: 'Show all' }).click();
    await page.getByText('may be out of date').waitFor();
    await rowsOf(page).getByText('Autumn, everyone').waitFor();
    await page.getByRole('link', { name: 'Canceled' }).click();
    await page.getByRole('alert').waitFor();
    await page.unroute('**/v2alpha/**');
    await page.getByRole('button', { name: 'Try again' }).first().click();
    await rowsOf(page).getByText('Weekend test').waitFor();
  });

  it('sees a refreshed list after the feed of changes was unavailable', async () => {
    const { page } = await c.open('acme');
    await page.route('**/changes*', (route) => route.abort());
    await page.goto(new URL('/measurements', page.url()).href);
    await page.getByText('Not connected').waitFor();
    await rowsOf(page).getByText('Autumn, everyone').waitFor();
    await ask('While not connected', [parties.streamly]);
    await page.unroute('**/changes*');
    await rowsOf(page).getByText('While not connected').waitFor();
    await page.getByText('Refreshed').waitFor();
  });

  it('sees unencrypted data without keys, and the command that opens the rest', async () => {
    const name = await ask('Sealed title', [parties.streamly]);
    const { page, errors } = await c.open('acme');
    await page.route('**/console.json', async (route) => {
      const served = await (await route.fetch()).json();
      const identities = served.identities.map((identity: object) => ({ ...identity, keys: false }));
      await route.fulfill({ json: { ...served, identities } });
    });
    await page.goto(new URL(`/measurements/${idOf(name)}`, page.url()).href);
    await page.getByText('1 publisher').waitFor();
    await page.getByText('mex console --as acme').first().waitFor();
    expect(await page.getByText('Sealed title').count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('sees the list after two rate-limited requests', async () => {
    const { page } = await c.open('acme');
    const error = new ExchangeError('RATE_LIMITED', 'Too many calls.', { retryAfterSeconds: 0 });
    let limited = 2;
    await page.route('**/v2alpha/**/measurements?*', (route) =>
      limited-- > 0
        ? route.fulfill({ status: error.httpStatus, headers: { 'retry-after': '0' }, json: error })
        : route.continue(),
    );
    await page.goto(new URL('/measurements', page.url()).href);
    await rowsOf(page).getByText('Autumn, everyone').waitFor();
    expect(limited).toBeLessThan(0);
  });

  it('scrolls through 3,000 measurements with fewer than 60 rendered rows', async () => {
    const exchange = c.exchange as TestExchange;
    const [consumer] = exchange.dev.measurementConsumers;
    await loadMeasurements(exchange.database, {
      consumer: consumer!,
      providers: exchange.dev.dataProviders,
      count: 3000,
    });
    const { page, errors } = await c.open('acme', { path: '/measurements' });
    await rowsOf(page).first().waitFor();
    for (let i = 0; i < 12; i++) {
      await page.evaluate(() => window.scrollTo(0, document.body.scrollHeight));
      await page.waitForTimeout(150);
    }
    const index = Number(await rowsOf(page).last().getAttribute('aria-rowindex'));
    expect(index).toBeGreaterThan(200);
    expect(await rowsOf(page).count()).toBeLessThan(60);
    expect(errors).toEqual([]);
  });
});
