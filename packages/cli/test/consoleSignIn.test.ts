/** Tests sign-in to the console of an exchange at a real OpenID provider, in a real browser. */
import { lacksChromium, launchChromium } from '@measurement-exchange/testkit/chromium';
import { watchErrors } from '@measurement-exchange/testkit/console';
import { startExchange, type TestExchange } from '@measurement-exchange/testkit/exchange';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consolePages } from '../src/exchange/consolePages.ts';
import { useEnvironment } from './environment.ts';
import { mex } from './mexInProcess.ts';
import { CLIENT, startProvider, type TestProvider } from './openIdProvider.ts';

let provider: TestProvider;
let exchange: TestExchange;
let browser: Browser | undefined;

beforeAll(async () => {
  provider = await startProvider();
  const issuers = [{ issuer: provider.url, audience: CLIENT, jwksUri: `${provider.url}/jwks` }];
  exchange = await startExchange({ issuers }, undefined, await consolePages({ issuers }));
  if (!lacksChromium) browser = await launchChromium();
});
afterAll(async () => {
  await browser?.close();
  expect(await exchange.stop()).toEqual([]);
  await provider.stop();
});
useEnvironment(() => exchange);
beforeAll(async () => {
  await mex(
    ...[
      'admin',
      'principals',
      'bind',
      'measurementConsumers/acme',
      '--issuer',
      provider.url,
      '--subject',
      'alice',
    ],
    ...['--url', exchange.url, '--token', exchange.dev.operator.token],
  );
});

async function openPage(): Promise<{ page: Page; errors: string[] }> {
  const page = await (await browser!.newContext()).newPage();
  const errors = watchErrors(page);
  await page.goto(exchange.url);
  return { page, errors };
}

/** Signs in as this user in the issuer's window, which accepts any password. */
async function signIn(page: Page, name: string): Promise<Page> {
  const [popup] = await Promise.all([
    page.waitForEvent('popup'),
    page.getByRole('button', { name: `Continue with ${new URL(provider.url).host}` }).click(),
  ]);
  await popup.locator('input[name=login]').fill(name);
  await popup.locator('input[name=password]').fill('x');
  await popup.locator('button[type=submit]').click();
  await popup.locator('form[action*="confirm"], button[type=submit]').first().waitFor();
  await popup.locator('button[type=submit]').click();
  return popup;
}

describe.skipIf(lacksChromium)('the console at an exchange', () => {
  it('signs in at the issuer, and renews its token without asking the user again', async () => {
    const { page, errors } = await openPage();
    // The page renews a token 30 s before it expires. With a lifetime of 20 s, the page therefore renews the token for
    // each call.
    provider.lifetime = 20;
    await signIn(page, 'alice');
    await page.locator('.who', { hasText: 'Acme' }).first().waitFor();
    await expect.poll(() => provider.grants).toContain('refresh_token');
    expect(provider.grants[0]).toBe('authorization_code');
    expect(errors).toEqual([]);
    provider.lifetime = 3600;
  });

  it('advises a user whom the exchange does not know to ask the operator', async () => {
    const { page } = await openPage();
    await signIn(page, 'mallory');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('ask the operator of this exchange');
  });

  it('cancels a sign-in, closes its window, and shows the demo parties again', async () => {
    const { page } = await openPage();
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: `Continue with ${new URL(provider.url).host}` }).click(),
    ]);
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('heading', { name: 'Pick a demo party' }).waitFor();
    expect(await page.getByRole('alert').count()).toBe(0);
    await expect.poll(() => popup.isClosed()).toBe(true);
  });
});
