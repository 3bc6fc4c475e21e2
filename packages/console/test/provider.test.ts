/**
 * Tests the publisher's pages: decoding, refusing and deferring a request, the privacy budget, event groups (some of
 * them hostile), and schemas.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Consumer, createConsumer, createTrustStore } from '@measurement-exchange/sdk';
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { useConsole } from '@measurement-exchange/testkit/console';
import type { TestExchange } from '@measurement-exchange/testkit/exchange';
import { eventsCsv } from '@measurement-exchange/testkit/providerWorld';
import { BRAND, BUDGET, type Field, schema } from '@measurement-exchange/testkit/schemas';
import { type Party, partyOf, requisitionOf } from '@measurement-exchange/testkit/world';
import { beforeAll, expect, it } from 'vitest';

const c = useConsole();
let exchange: TestExchange;
let acme: Party;
let streamly: Party;
let consumer: Consumer;
let spring: string;

const HOSTILE = `<img src=x onerror=alert(1)>\u202e${'long'.repeat(40)}`;

beforeAll(async () => {
  if (lacksChromium) return;
  exchange = c.exchange as TestExchange;
  acme = partyOf(exchange, exchange.dev.measurementConsumers[0]!);
  streamly = partyOf(exchange, exchange.dev.dataProviders[0]!);
  const { certificatePem } = JSON.parse(await readFile(join(exchange.dataDir, 'dev-root.json'), 'utf8'));
  consumer = createConsumer({
    client: acme.client,
    credentials: acme,
    trust: createTrustStore([{ pem: certificatePem }]),
  });
  spring = await describeGroup('spring', 'Autumn');
  await describeGroup(HOSTILE, HOSTILE);
});

async function describeGroup(reference: string, campaignName: string): Promise<string> {
  const body = {
    measurementConsumer: acme.name,
    eventGroupReferenceId: reference,
    attributes: [{ name: 'age', type: 'INT' as const }],
    eventGroupMetadata: { adMetadata: { campaignMetadata: { campaignName } } },
  };
  return (await streamly.client.createEventGroup({ parent: streamly.name, body })).name!;
}

async function ask(): Promise<{ measurement: string; id: string }> {
  const interval = { start: '2026-07-01T00:00:00Z', end: '2026-07-04T00:00:00Z' };
  const { name } = await consumer.create({
    type: 'reach',
    dataProviders: [{ name: streamly.name, eventGroups: [{ name: spring, interval, filter: 'age > 30' }] }],
    privacy: { epsilon: 1, delta: 0 },
  });
  const requisition = await requisitionOf(streamly, name!);
  return { measurement: name!, id: requisition.name!.split('/').at(-1)! };
}

/** Runs the agent of the publisher once, in a process of its own. */
async function answerAll(): Promise<void> {
  const file = join(exchange.dataDir, 'events.csv');
  await writeFile(file, eventsCsv());
  const mex = join(import.meta.dirname, '../../cli/src/mex.mjs');
  const args = [mex, 'provider', 'run', '--as', 'streamly', '--events', file, '--once'];
  await promisify(execFile)(process.execPath, args, {
    env: { ...process.env, MEX_DATA_DIR: exchange.dataDir },
  });
}

it.skipIf(lacksChromium)(
  'a publisher sees a decoded request with its cost, refuses a second one, and defers a third',
  async () => {
    const answered = await ask();
    await answerAll();
    const refused = await ask();
    const deferred = await ask();
    const { page, errors } = await c.open('streamly', { path: '/requests' });
    await expect.poll(() => page.getByRole('row').count()).toBe(4);
    await page.locator('tr', { hasText: 'Answered' }).getByText('age > 30').waitFor();

    await page.goto(new URL(`/requests/${answered.id}`, page.url()).href);
    await page.getByRole('heading', { name: 'Reach, for Acme' }).waitFor();
    await page.getByRole('link', { name: 'spring' }).waitFor();
    await page.getByText('Jul 1 – 3').waitFor();
    await page.getByText(/\d+ checks passed/).waitFor();
    await page.getByText('10.0 % of the budget of each day and reference').waitFor();

    await page.goto(new URL(`/requests/${refused.id}`, page.url()).href);
    await page.getByRole('heading', { name: 'It waits for your answer' }).waitFor();
    await page.getByText('Nothing was charged yet.').waitFor();
    await page.getByRole('button', { name: 'Refuse…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('The measurement of Acme fails permanently').waitFor();
    await dialog.getByText('The request is wrong').click();
    await dialog.getByLabel('What the advertiser should know').fill('Ask <b>without</b> the filter');
    await dialog.getByRole('button', { name: 'Refuse request' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.locator('dd', { hasText: 'Ask <b>without</b> the filter' }).waitFor();
    await page.getByText('Nothing was charged.').waitFor();
    expect(await acme.client.getMeasurement({ name: refused.measurement })).toMatchObject({
      state: 'FAILED',
      failure: { reason: 'REQUISITION_REFUSED' },
    });

    await page.goto(new URL(`/requests/${deferred.id}`, page.url()).href);
    await page.getByRole('button', { name: 'Defer…' }).click();
    await dialog.getByRole('button', { name: 'Defer request', disabled: true }).waitFor();
    await dialog.getByLabel('Reason').fill('The files arrive tomorrow');
    await dialog.getByRole('button', { name: 'Defer request' }).click();
    await dialog.waitFor({ state: 'detached' });
    await page.getByText('Deferred', { exact: true }).first().waitFor();
    const open = await streamly.client.getRequisition({
      name: `${streamly.name}/requisitions/${deferred.id}`,
    });
    expect(open).toMatchObject({ state: 'UNFULFILLED', deferral: { reason: 'The files arrive tomorrow' } });
    expect(errors).toEqual([]);
  },
);

it.skipIf(lacksChromium)('the budget page shows the spent budget by day and by advertiser', async () => {
  const { page, errors } = await c.open('streamly', { path: '/budget' });
  await page.getByRole('heading', { name: /spring.*day by day/ }).waitFor();
  await page.getByRole('img', { name: /3 days, at most 10 % spent/ }).waitFor();
  await page.locator('.heat .h[title^="July 2: 10 %"]').waitFor();
  await page.locator('section', { hasText: 'By advertiser' }).getByText('10.0 %').first().waitFor();
  await page.getByRole('link', { name: 'Agent and files' }).click();
  await page.getByText('In all: 1 result, 0 sent to duchies, 0 refused.').waitFor();
  const chirper = await c.open('chirper', { path: '/budget' });
  await chirper.page.getByText('The agent creates it when it starts').waitFor();
  expect([errors, chirper.errors]).toEqual([[], []]);
});

it.skipIf(lacksChromium)(
  'without keys, requests stay sealed, and the page shows the command that opens them',
  async () => {
    const { page, errors } = await c.open('streamly');
    await page.route('**/console.json', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, json: { ...(await response.json()), companion: false } });
    });
    await page.goto(new URL('/requests', page.url()).href);
    await page
      .getByRole('row', { name: /Acme Reach sealed/ })
      .first()
      .waitFor();
    await page.getByRole('link', { name: 'Acme' }).first().click();
    await page.getByText('mex console --as streamly').first().waitFor();
    await page.getByRole('link', { name: 'Privacy budget' }).click();
    await page.getByText('The agent keeps its ledger on its own machine.').waitFor();
    expect(errors).toEqual([]);
  },
);

it.skipIf(lacksChromium)(
  'the event group form detects a concurrent change, and saves both changes',
  async () => {
    const { page, errors } = await c.open('streamly', { path: '/event-groups' });
    await page.getByRole('link', { name: 'spring' }).click();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Campaign').fill('Winter');
    const { name: _n, state: _s, ...current } = await streamly.client.getEventGroup({ name: spring });
    await streamly.client.updateEventGroup({ name: spring, body: { ...current, mediaTypes: ['VIDEO'] } });
    await page.getByRole('heading', { name: 'It has changed meanwhile' }).waitFor();
    await page.locator('tr', { hasText: 'Media' }).getByText('VIDEO').waitFor();
    expect(await page.getByRole('button', { name: 'Save changes' }).isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'Take the version at the exchange' }).click();
    await page.getByLabel('Campaign').fill('Winter');
    await page.getByLabel('Meaning').fill('In years');
    await page.getByRole('button', { name: 'Save changes' }).click();
    await page.getByRole('heading', { level: 1, name: 'spring', exact: true }).waitFor();
    expect(await streamly.client.getEventGroup({ name: spring })).toMatchObject({
      mediaTypes: ['VIDEO'],
      attributes: [{ name: 'age', description: 'In years' }],
      eventGroupMetadata: { adMetadata: { campaignMetadata: { campaignName: 'Winter' } } },
    });
    expect(errors).toEqual([]);
  },
);

it.skipIf(lacksChromium)(
  'the form creates an event group, and a list of 151 renders fewer than 50 rows',
  async () => {
    const { page, errors } = await c.open('chirper', { path: '/event-groups/new' });
    await page.getByRole('button', { name: 'Describe event group' }).click();
    await page.getByText('Say which advertiser may ask about these events').first().waitFor();
    await page.getByLabel('Advertiser').fill('acme');
    await page.getByLabel('Reference').fill('winter');
    await page.getByLabel('First day with data').fill('2026-11-01');
    await page.getByRole('button', { name: 'Add an attribute' }).click();
    await page.getByLabel('Name').fill('device');
    await page.getByLabel('Examples').fill('phone, tv');
    await page.getByRole('button', { name: 'Describe event group' }).click();
    await page.getByRole('heading', { level: 1, name: 'winter', exact: true }).waitFor();
    await page.getByText('phone, tv').waitFor();

    const { client, name: parent } = partyOf(exchange, exchange.dev.dataProviders[1]!);
    for (const batch of ['a', 'b', 'c']) {
      const requests = Array.from({ length: 50 }, (_, i) => ({
        eventGroup: { measurementConsumer: acme.name, eventGroupReferenceId: `${batch}${i}` },
      }));
      await client.batchCreateEventGroups({ parent, body: { requests } });
    }
    await page.getByRole('navigation', { name: 'Path' }).getByRole('link', { name: 'Event groups' }).click();
    await page.getByText('The first 100. Scroll for more').waitFor();
    expect(await page.getByRole('row').count()).toBeLessThan(50);
    await page.keyboard.press('End');
    await page.getByText('151 in all').waitFor();
    await page.keyboard.press('End');
    // The event groups of a batch have the same creation time, so any event group of batch `c` may be in the last row.
    await expect.poll(() => page.getByRole('row').last().textContent()).toMatch(/^c\d/);
    expect(await page.getByRole('row').count()).toBeLessThan(50);
    expect(errors).toEqual([]);
  },
);

it.skipIf(lacksChromium)(
  'the schema page registers and replaces a schema, but sends no breaking change',
  async () => {
    const { page, errors } = await c.open('streamly', { path: '/schemas/new' });
    const choose = (...fields: Field[]) =>
      page.getByLabel('A FileDescriptorSet').setInputFiles({
        name: 'schema.json',
        mimeType: 'application/json',
        buffer: Buffer.from(JSON.stringify(schema('Show', ...fields))),
      });
    await choose(BUDGET, BRAND);
    await page.getByText('It has 1 message. Nothing was sent yet.').waitFor();
    await page.getByRole('button', { name: 'Register schema' }).click();
    await page.getByRole('heading', { level: 1, name: /^Schema / }).waitFor();
    await page.getByRole('row', { name: /brand/ }).waitFor();
    await choose({ ...BUDGET, type: 'TYPE_STRING' }, BRAND);
    await page.getByText('It breaks readers').waitFor();
    expect(await page.getByRole('button', { name: 'Replace schema' }).isDisabled()).toBe(true);
    await choose(BUDGET, BRAND, { name: 'season', number: 3, type: 'TYPE_INT32' });
    await page.getByText('1 change, 0 of them break readers.').waitFor();
    await page.getByRole('button', { name: 'Replace schema' }).click();
    await page.getByRole('row', { name: /season/ }).waitFor();
    expect(errors).toEqual([]);
  },
);

it.skipIf(lacksChromium)('a hostile event group reference is shown as text within 360 px', async () => {
  const viewport = { width: 360, height: 800 };
  const { page, errors } = await c.open('streamly', { path: '/event-groups', viewport });
  const link = page.getByRole('link', { name: HOSTILE.slice(0, 20) });
  await link.waitFor();
  const widest = () => page.evaluate(() => document.documentElement.scrollWidth);
  expect(await widest()).toBe(360);
  await link.click();
  await page.getByRole('heading', { level: 1 }).waitFor();
  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByText('can no longer ask about it').waitFor();
  expect(await widest()).toBe(360);
  await page.getByRole('button', { name: 'Delete event group' }).click();
  await page.getByRole('heading', { level: 1, name: 'Event groups' }).waitFor();
  await expect.poll(() => page.getByRole('row').count()).toBe(2);
  expect(await page.locator('img').count()).toBe(0);
  expect(errors).toEqual([]);
});
