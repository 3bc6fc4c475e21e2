import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { useConsole } from '@measurement-exchange/testkit/console';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';

const c = useConsole({ alive: true });
const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/** Returns the IDs of the axe rules that the page breaks, and `scrolls sideways` if it is wider than its window. */
async function faultsOf(page: Page): Promise<string[]> {
  await page.evaluate(`${AXE};0`);
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as { axe: { run(): Promise<{ violations: { id: string }[] }> } };
    const { violations } = await axe.run();
    const isWide = document.documentElement.scrollWidth > window.innerWidth;
    return [...violations.map(({ id }) => id), ...(isWide ? ['scrolls sideways'] : [])];
  });
}

const filterOf = (page: Page) => page.getByRole('textbox', { name: 'Only events where' });
const sendOf = (page: Page) => page.getByRole('button', { name: /^Send/ });
const day = (page: Page, name: RegExp) => page.getByRole('button', { name });

it.skipIf(lacksChromium)(
  'the form creates one measurement on a double click, and Clone fills in the form again',
  { timeout: 180_000 },
  async () => {
    const { page, errors } = await c.open('acme', { path: '/new' });
    // A busy machine may take longer than Playwright's default timeout of 30 s.
    page.setDefaultTimeout(90_000);
    const created: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/companion/create')) created.push(request.postData()!);
    });

    // No publisher is picked, so the button is disabled and the reason is beside it.
    await expect.poll(() => page.locator('#ask-send-why').textContent()).toBe('Pick a publisher');
    expect(await sendOf(page).isDisabled()).toBe(true);
    await page.getByRole('checkbox', { name: 'Harbor News' }).check();
    await page.getByRole('checkbox', { name: 'Northlight TV' }).check();

    // The form shows the expected error, the charge, and the days that both publishers have.
    await page.getByText(/^19 of 20 results fall within/).waitFor();
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-10-01');
    expect(await page.getByLabel('Until', { exact: true }).inputValue()).toBe('2026-10-28');
    expect(await page.getByText('of each of 28 days').count()).toBe(2);
    await page.getByRole('radio', { name: /^Share shuffle.*± \d/ }).waitFor();
    await page.getByRole('radio', { name: /^Each publisher alone.*± \d+ each/ }).waitFor();
    expect(await faultsOf(page)).toEqual([]);

    // The keyboard alone selects October 7 to October 20.
    await day(page, /^October 1, 2026: 2 of 2 publishers have data/).focus();
    for (const key of ['ArrowDown', 'ArrowLeft', 'Enter', 'PageDown', 'PageUp', 'ArrowDown', 'ArrowDown']) {
      await page.keyboard.press(key);
    }
    expect(await page.evaluate(() => document.activeElement!.getAttribute('aria-label'))).toMatch(
      /^October 21/,
    );
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Space');
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-10-07');
    expect(await page.getByLabel('Until', { exact: true }).inputValue()).toBe('2026-10-20');

    // A click on the suggested fix corrects a wrong filter.
    await filterOf(page).fill('device = "phone"');
    await page.getByText('Line 1, column 8: Compare with ==, not =.').waitFor();
    expect(await page.locator('#ask-send-why').textContent()).toBe('Fix the filter');
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Change to ==' }).click();
    expect(await filterOf(page).inputValue()).toBe('device == "phone"');

    // Completions supply an operator, a name, a comparison and a value for the filter.
    await filterOf(page).press('End');
    await filterOf(page).pressSequentially(' ');
    await page.getByRole('option', { name: '&& and' }).click();
    await filterOf(page).pressSequentially('gen');
    await filterOf(page).press('Enter');
    await filterOf(page).press('Tab');
    expect(await filterOf(page).inputValue()).toBe('device == "phone" && gender == "F"');

    await page.getByLabel('Title', { exact: true }).fill('Women on phones, two publishers');
    await expect.poll(() => sendOf(page).isEnabled()).toBe(true);
    await sendOf(page).dblclick();
    await page.waitForURL(/\/measurements\/[^/]+$/);
    expect(created).toHaveLength(1);
    expect(JSON.parse(created[0]!).request.requestId).toMatch(/^console-[0-9a-f]{32}$/);
    await page.getByRole('heading', { level: 1, name: 'Women on phones, two publishers' }).waitFor();

    // The link Clone opens a form that is filled in from the measurement.
    await page.getByRole('link', { name: 'Clone', exact: true }).click();
    await expect.poll(() => filterOf(page).inputValue()).toBe('device == "phone" && gender == "F"');
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-10-07');
    expect(await page.getByRole('checkbox', { name: 'Northlight TV' }).isChecked()).toBe(true);
    expect(await page.getByRole('checkbox', { name: 'Pinwheel Social' }).isChecked()).toBe(false);

    // The dialog lists earlier measurements, and fills in the form from the chosen one.
    await page.goto(new URL('/new', page.url()).href);
    await page.getByRole('button', { name: 'Start from an earlier one' }).click();
    const dialog = page.getByRole('dialog', { name: 'Start from an earlier one' });
    await dialog.getByRole('link', { name: 'Women on phones, two publishers' }).waitFor();
    await dialog.getByRole('searchbox', { name: 'Find by title' }).fill('no such title');
    await dialog.getByText('No measurement has such a title.').waitFor();
    await dialog.getByRole('searchbox', { name: 'Find by title' }).fill('on PHONES');
    await dialog.getByRole('link', { name: 'Women on phones, two publishers' }).click();
    await expect.poll(() => filterOf(page).inputValue()).toBe('device == "phone" && gender == "F"');
    expect(errors).toEqual([]);
  },
);

it.skipIf(lacksChromium)('a failed plan keeps all input of the form, and is retried', async () => {
  const { page } = await c.open('acme', { path: '/new', viewport: { width: 390, height: 800 } });
  await page.getByRole('checkbox', { name: 'Harbor News' }).check();
  await page.route('**/companion/plan', (route) => route.abort());
  await page.getByLabel('Title', { exact: true }).fill('Kept');
  await filterOf(page).fill('device == "tv"');
  await page.getByText('It could not be checked').first().waitFor();
  expect(await sendOf(page).isDisabled()).toBe(true);
  await page.unroute('**/companion/plan');
  await page.getByRole('button', { name: 'Check again' }).click();
  await expect.poll(() => sendOf(page).isEnabled()).toBe(true);

  // After an error, the page plans again even if the user does not click.
  await page.route('**/companion/plan', (route) => route.abort());
  await filterOf(page).fill('device == "phone"');
  await page.getByText('It could not be checked').first().waitFor();
  await page.unroute('**/companion/plan');
  await expect.poll(() => sendOf(page).isEnabled(), { timeout: 90_000 }).toBe(true);
  await filterOf(page).fill('device == "tv"');
  expect(await page.getByLabel('Title', { exact: true }).inputValue()).toBe('Kept');
  expect(await filterOf(page).inputValue()).toBe('device == "tv"');
  expect(await faultsOf(page)).toEqual([]);
});

it.skipIf(lacksChromium)('the catalog opens the form for one event group', async () => {
  const { page, errors } = await c.open('acme', { path: '/catalog', viewport: { width: 768, height: 900 } });
  await page.getByRole('link', { name: 'autumn-display' }).first().waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByLabel('Media').selectOption('VIDEO');
  await expect.poll(() => page.getByRole('link', { name: 'autumn-display' }).count()).toBe(0);
  await page.getByRole('link', { name: 'autumn-video' }).first().click();
  await page.getByRole('cell', { name: '"18-34", "35-54", "55+"' }).first().waitFor();
  expect(await faultsOf(page)).toEqual([]);
  await page.getByRole('link', { name: 'Ask about this' }).click();
  await page.getByText('1 publisher, 1 event group.').waitFor();
  expect(errors).toEqual([]);
});
