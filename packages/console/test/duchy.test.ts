/** Tests the duchy's pages: its parties, and a computation that appears, waits and ends while the page is open. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createConsumer, createTrustStore } from '@measurement-exchange/sdk';
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { useConsole } from '@measurement-exchange/testkit/console';
import type { TestExchange } from '@measurement-exchange/testkit/exchange';
import { type Party, partyOf } from '@measurement-exchange/testkit/world';
import { expect, it } from 'vitest';

const c = useConsole({ exchange: { demoDuchies: true } });

/** Asks two publishers for their combined reach. The duchies would compute it, but no duchy runs in this test. */
async function ask(): Promise<{ acme: Party; name: string }> {
  const exchange = c.exchange as TestExchange;
  const acme = partyOf(exchange, exchange.dev.measurementConsumers[0]!);
  const { certificatePem } = JSON.parse(await readFile(join(exchange.dataDir, 'dev-root.json'), 'utf8'));
  const consumer = createConsumer({
    client: acme.client,
    credentials: acme,
    trust: createTrustStore([{ pem: certificatePem }]),
    duchies: ['duchies/alpha', 'duchies/beta', 'duchies/gamma'],
  });
  const interval = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };
  const dataProviders = await Promise.all(
    exchange.dev.dataProviders.slice(0, 2).map(async (dev) => {
      const { client, name: parent } = partyOf(exchange, dev);
      const body = { measurementConsumer: acme.name, eventGroupReferenceId: 'spring' };
      const { name } = await client.createEventGroup({ parent, body });
      return { name: parent, eventGroups: [{ name: name!, interval }] };
    }),
  );
  const { name } = await consumer.create({
    type: 'reach',
    dataProviders,
    privacy: { epsilon: 1, delta: 1e-9 },
  });
  return { acme, name: name! };
}

it.skipIf(lacksChromium)(
  'the pages of a duchy show a computation that appears, waits and is canceled',
  async () => {
    const { page, errors } = await c.open('alpha', { path: '/computations' });
    await page.getByText('No computation yet').waitFor();
    const { acme, name } = await ask();
    const row = page.getByRole('row', { name: /Reach for Acme .* First worker Making keys/ });
    await row
      .filter({ hasText: name.split('/').at(-1)! })
      .getByRole('link')
      .click();
    await page.getByRole('heading', { name: /It waits for the keys of .*you/ }).waitFor();
    await page.getByText('Your duchy does its part by itself').waitFor();
    await page.getByRole('link', { name: 'Computations 1 open' }).waitFor();
    // The page keeps reading the progress of the duchies, even if nothing changes at the exchange.
    for (let i = 0; i < 3; i++) {
      await page.waitForResponse((response) => response.url().endsWith(':explain'), { timeout: 90_000 });
    }
    await page.getByRole('heading', { name: 'Data of 0 of 2 publishers is there' }).waitFor();
    await page.getByRole('row', { name: /You First worker 1 Set up · 3 Shuffle, add noise/ }).waitFor();
    await acme.client.cancelMeasurement({ name });
    await page.getByRole('heading', { name: 'The advertiser canceled the measurement' }).waitFor();
    await page.getByRole('link', { name: 'Peers and roots' }).click();
    await page.getByRole('row', { name: /Beta Duchy 1 .* Common root/ }).waitFor();
    await page.getByRole('link', { name: 'Home' }).click();
    await page.getByRole('row', { name: /Canceled/ }).waitFor();
    // The page lists only the newest computations, so it does not show a total.
    expect(await page.getByText(/in all|Scroll for more/).count()).toBe(0);
    expect(errors).toEqual([]);
  },
);
