/**
 * Tests a report in the console against a live exchange, from the form to the corrected figures. Also tests that a
 * clone of the report costs nothing.
 */
import { readFile } from 'node:fs/promises';
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { useConsole } from '@measurement-exchange/testkit/console';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';

const c = useConsole({ alive: true });
const runButton = (page: Page) => page.getByRole('button', { name: 'Run this report' });

it.skipIf(lacksChromium)(
  'a first report runs from one form, and can be downloaded and cloned',
  { timeout: 560_000 },
  async () => {
    const { page, errors } = await c.openAtExchange('Acme Beverages', { path: '/reports' });
    // Steps that take seconds on an idle machine may take minutes on a busy one.
    page.setDefaultTimeout(240_000);
    await page.getByText('No report yet').waitFor();
    await page
      .getByRole('link', { name: /New report/ })
      .first()
      .click();

    // The form is complete when it opens: it has publishers, days, the cost and the expected errors.
    await page.getByText(/^\d+: \d+ by duchies, \d+ by publishers alone$/).waitFor();
    await page.getByRole('img', { name: /^Expected error: people/ }).waitFor();
    expect(await page.getByText(/of each of \d+ days/).count()).toBe(3);
    await expect.poll(() => runButton(page).isEnabled()).toBe(true);

    // The page shows the error of a set beside its field, and the report cannot run.
    await page.getByRole('button', { name: 'Add a set' }).click();
    await page.getByLabel('Name of set 1').fill('only');
    await page.getByLabel('Expression of set 1').fill('northlight - radio');
    await page
      .getByText(/Names radio, which is no segment/)
      .first()
      .waitFor();
    expect(await runButton(page).isDisabled()).toBe(true);
    await page.getByLabel('Expression of set 1').fill('northlight - harbor');
    await expect.poll(() => runButton(page).isEnabled()).toBe(true);

    await page.getByRole('textbox', { name: 'Title' }).fill('Three publishers');
    await runButton(page).dblclick();
    await page.waitForURL(/\/reports\/r-/);
    await page.getByRole('heading', { level: 1, name: 'Three publishers' }).waitFor();
    await page.getByText(/of \d+ measurements answered/).waitFor();
    // The list of measurements shows display names and days in words.
    const running = page.locator('section', { hasText: 'measurements answered' });
    await running
      .getByText(/^Reach of Northlight.*, Oct 1 – 28$/)
      .first()
      .waitFor();

    // The report shows reach with its interval, overlap, additions, reach over time, and frequency.
    await page.getByRole('heading', { name: 'Who saw it where' }).waitFor();
    await page.getByRole('heading', { name: 'What each one adds' }).waitFor();
    await page.getByRole('heading', { name: 'Reach over time' }).waitFor();
    await page.getByRole('heading', { name: 'How often people were reached' }).waitFor();
    expect(await page.getByText('95 %:').first().isVisible()).toBe(true);
    expect(await page.getByText('Consistent', { exact: true }).isVisible()).toBe(true);
    await page.getByText('Complete', { exact: true }).waitFor();
    const cost = page.locator('section', { has: page.getByRole('heading', { name: 'What it cost' }) });
    expect(await cost.getByText(/ % of each of \d+ days$/).count()).toBe(3);
    await cost.getByText('Free: every answer is already here').waitFor();
    const definition = page.locator('section', { has: page.getByRole('heading', { name: 'Definition' }) });
    await definition.getByText('autumn-video').first().waitFor();

    for (const [format, content] of [
      ['CSV', /^figure,of,/],
      ['JSON', /^\{\n {2}"title": "Three publishers"/],
      ['HTML', /^<!doctype html>/],
    ] as const) {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.locator('.head').getByRole('button', { name: format }).click(),
      ]);
      expect(download.suggestedFilename()).toMatch(new RegExp(`^r-\\w+\\.${format.toLowerCase()}$`));
      expect(String(await readFile(await download.path()))).toMatch(content);
    }

    // The list shows the report. Asking the same question again reuses every answer.
    await page.getByRole('link', { name: 'Reports', exact: true }).first().click();
    await page.getByRole('row', { name: /Three publishers.*Complete/ }).waitFor();
    await page.getByRole('link', { name: 'Three publishers' }).click();
    await page.getByRole('link', { name: 'Clone', exact: true }).click();
    await page.getByText('This charges nothing: every answer is already here.').waitFor();
    expect(errors).toEqual([]);
  },
);
