/** Tests the console's two servers in a real browser: `mex console` and a development exchange. */
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { useConsole } from '@measurement-exchange/testkit/console';
import type { Page, Request } from 'playwright-core';
import { describe, expect, it } from 'vitest';

const c = useConsole();

/**
 * Returns what a script on the page's origin can read without a network call, such as storage, cookies and the address.
 */
const reachable = (page: Page) =>
  page.evaluate(async () => {
    const databases = (await indexedDB.databases()).map(({ name }) => name);
    const { href } = location;
    return JSON.stringify([
      { ...localStorage },
      { ...sessionStorage },
      document.cookie,
      databases,
      await caches.keys(),
      href,
    ]);
  });

const secrets = () => {
  const [acme] = c.exchange.dev.measurementConsumers as unknown as Record<string, string>[];
  const { token, privateKeyPem, encryptionPrivateKey } = acme!;
  return [token!, privateKeyPem!.split('\n')[1]!, encryptionPrivateKey!];
};

describe.skipIf(lacksChromium)('mex console', () => {
  it('opens signed in, calls only itself, and exposes no secret to the page', async () => {
    const calls: string[] = [];
    const { page, errors } = await c.open('acme');
    page.on('request', (request) => {
      const { authorization } = request.headers();
      calls.push(`${new URL(request.url()).origin} ${authorization ?? ''}`);
    });
    await page.reload();
    await page.locator('.app').waitFor();
    expect(await page.locator('.who').first().textContent()).toMatch(/Acme/);
    const { origin, search } = new URL(page.url());
    expect(search).toBe('');
    expect(new Set(calls)).toEqual(new Set([`${origin} `, `${origin} Bearer held-by-mex-console`]));
    const [state, html] = [await reachable(page), await page.content()];
    for (const secret of secrets()) expect(`${state}${html}`).not.toContain(secret);
    const [local, session, ...others] = JSON.parse(state);
    // Ignore the scroll position of each page, which the router stores.
    expect(
      [...Object.keys(local), ...Object.keys(session)].filter((key) => !key.startsWith('tsr-scroll')),
    ).toEqual([]);
    expect(others).toEqual(['', [], [], `${origin}/`]);
    expect(errors).toEqual([]);
  });

  it('switches between several identities', async () => {
    const { page, errors } = await c.open(['acme', 'streamly', 'operator']);
    await page.getByRole('button', { name: /^ST streamly/i }).click();
    await page.locator('.who', { hasText: 'streamly' }).first().click();
    await page.getByRole('heading', { name: 'Signed in here' }).waitFor();
    await page.getByRole('button', { name: /operator/i }).click();
    await page.locator('.who', { hasText: 'operator' }).first().waitFor();
    expect(errors).toEqual([]);
  });

  it('follows changes only while its page is visible', async () => {
    const { page, errors } = await c.open('acme');
    const live = page.getByRole('status').filter({ hasText: 'Live' });
    await live.waitFor();
    const see = (state: string) =>
      page.evaluate((state) => {
        Object.defineProperty(document, 'visibilityState', { value: state, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, state);
    const isStream = (request: Request) => /changes:/.test(request.url());
    const [ended] = await Promise.all([page.waitForEvent('requestfailed', isStream), see('hidden')]);
    expect(ended.failure()!.errorText).toContain('ABORTED');
    await Promise.all([page.waitForEvent('request', isStream), see('visible')]);
    await live.waitFor();
    expect(errors).toEqual([]);
  });

  it('returns 401 with instructions to a browser that did not open its link', async () => {
    const { page } = await c.open('acme');
    const stranger = await c.browser.newPage();
    const response = await stranger.goto(page.url());
    expect(response!.status()).toBe(401);
    expect(await stranger.textContent('body')).toContain('Open the link that mex console printed');
    await stranger.close();
  });
});

describe.skipIf(lacksChromium)('the exchange', () => {
  it('signs in a demo party with one click, stores no token, and opens the linked page', async () => {
    const { page, errors } = await c.openAtExchange('Acme Beverages', { path: '/absent/page' });
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/absent/page');
    const [state, html] = [await reachable(page), await page.content()];
    expect(`${state}${html}`).not.toMatch(/eyJ[\w-]{20}/);
    for (const secret of secrets()) expect(`${state}${html}`).not.toContain(secret);
    expect(errors).toEqual([]);
  });

  it('accepts numbers in exponent notation at /companion/plan', async () => {
    const [acme] = c.exchange.dev.measurementConsumers as unknown as { token: string }[];
    const request = { type: 'reach', dataProviders: [], privacy: { epsilon: 1, delta: 1e-9 } };
    const response = await fetch(`${c.exchange.url}/companion/plan`, {
      method: 'POST',
      headers: { authorization: `Bearer ${acme!.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ request }),
    });
    const text = await response.text();
    expect(text).toContain('dataProviders');
    expect(text).not.toContain('delta');
  });

  it('lets other parties sign in at the issuer in a popup, which closes afterward', async () => {
    const context = await c.browser.newContext();
    const page = await context.newPage();
    // Remove the list of parties from the description of the issuer, because a production issuer has none.
    await page.route('**/console.json', async (route) => {
      const about = await (await route.fetch()).json();
      const issuers = about.issuers.map(({ parties: _parties, ...issuer }: { parties: unknown }) => issuer);
      await route.fulfill({ json: { ...about, issuers } });
    });
    await page.goto(c.exchange.url);
    const [popup] = await Promise.all([
      page.waitForEvent('popup'),
      page.getByRole('button', { name: 'Continue with Demo parties' }).click(),
    ]);
    await page.getByRole('heading', { name: 'Continue in the other window' }).waitFor();
    await popup.getByRole('link', { name: /Streamly TV/ }).click();
    await page.locator('.who', { hasText: 'streamly' }).first().waitFor();
    await expect.poll(() => popup.isClosed()).toBe(true);
    await context.close();
  });

  it('asks to sign in again in a dialog if the token has expired, and then resumes the page', async () => {
    const { page, errors } = await c.openAtExchange('Acme Beverages');
    await page.clock.install();
    await page.clock.fastForward('13:00:00');
    // Tell the page that it is visible again. The page then reads from the exchange with the expired token.
    await page.evaluate(() => dispatchEvent(new Event('visibilitychange')));
    const dialog = page.getByRole('dialog', { name: 'Your sign-in has expired' });
    await dialog.waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Sign in again');
    // Set the browser's clock back to the issuer's time, so that the new token is valid.
    await page.clock.setSystemTime(new Date());
    await dialog.getByRole('button', { name: 'Sign in again' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page
      .getByRole('status')
      .filter({ hasText: /Live|Refreshed/ })
      .waitFor();
    expect(errors).toEqual([]);
  });

  it('signs out one party, closes its stream of changes, and keeps the other party signed in', async () => {
    const { page, errors } = await c.openAtExchange('Acme Beverages');
    await page.locator('.who').first().click();
    const here = page.locator('section', { has: page.getByRole('heading', { name: 'Signed in here' }) });
    await here.getByRole('button', { name: /Acme/ }).waitFor();
    await page.getByRole('button', { name: /Streamly TV/ }).click();
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    const isStream = (request: Request) => /changes:/.test(request.url());
    const [ended] = await Promise.all([
      page.waitForEvent('requestfailed', isStream),
      page.getByRole('button', { name: 'Sign out' }).first().click(),
    ]);
    expect(ended.failure()!.errorText).toContain('ABORTED');
    const left = here.getByRole('button');
    expect(await left.count()).toBe(1);
    await left.filter({ hasText: 'Acme' }).click();
    await page.getByRole('button', { name: 'Sign out' }).first().click();
    await page.getByRole('heading', { name: 'Pick a demo party' }).waitFor();
    expect(await here.count()).toBe(0);
    expect(errors).toEqual([]);
  });

  it('redirects localhost to the address of its issuer', async () => {
    const page = await c.browser.newPage();
    await page.goto(c.exchange.url.replace('127.0.0.1', 'localhost'));
    expect(new URL(page.url()).origin).toBe(c.exchange.url);
    await page.close();
  });
});
