import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { useConsole } from '@measurement-exchange/testkit/console';
import { expect, it } from 'vitest';

const c = useConsole();

it.skipIf(lacksChromium)('mex console shows its page in a browser, signed in, without an error', async () => {
  const { page, errors } = await c.open('acme');
  await page.getByRole('heading', { level: 1 }).waitFor();
  expect(await page.locator('.who').first().textContent()).toContain('acme');
  expect(new URL(page.url()).search).toBe('');
  expect(errors).toEqual([]);
});
