/**
 * Checks that every page of every role obeys its content security policy, calls only its own server, and leaves no
 * secrets in storage or addresses.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { toBase64 } from '@measurement-exchange/contract';
import { createConsumer, createTrustStore } from '@measurement-exchange/sdk';
import { lacksChromium } from '@measurement-exchange/testkit/chromium';
import { type OpenPage, useConsole } from '@measurement-exchange/testkit/console';
import type { TestExchange } from '@measurement-exchange/testkit/exchange';
import { leanSet } from '@measurement-exchange/testkit/metadataSets';
import {
  fulfillWith,
  INTERVAL,
  type Party,
  PRIVACY,
  partyOf,
  reach,
  requisitionOf,
} from '@measurement-exchange/testkit/world';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { PAGES } from '../src/app/pages.ts';
import type { Role } from '../src/session/roles.ts';

const c = useConsole({ exchange: { demoDuchies: true } });

const idOf = (name: string) => name.split('/').at(-1)!;
/**
 * The paths to visit instead of a path pattern with parameters, such as `/requests/$id`. A key is a path pattern. For
 * paths of only one role, the key is the role, a space and the path pattern.
 */
const EXAMPLES: Record<string, string[]> = { '/parties/$kind/$id': ['/parties/dataProviders/streamly'] };

beforeAll(async () => {
  if (lacksChromium) return;
  const exchange = c.exchange as TestExchange;
  const acme = partyOf(exchange, exchange.dev.measurementConsumers[0]!);
  const [streamly, chirper] = exchange.dev.dataProviders.map((party) => partyOf(exchange, party));
  const { certificatePem: pem } = JSON.parse(await readFile(join(exchange.dataDir, 'dev-root.json'), 'utf8'));
  const consumer = createConsumer({
    client: acme.client,
    credentials: acme,
    trust: createTrustStore([{ pem }]),
    duchies: ['duchies/alpha', 'duchies/beta', 'duchies/gamma'],
  });
  const describe = async (provider: Party) => {
    const body = { measurementConsumer: acme.name, eventGroupReferenceId: 'autumn-video' };
    return (await provider.client.createEventGroup({ parent: provider.name, body })).name!;
  };
  const [group, other] = [await describe(streamly!), await describe(chirper!)];
  const ask = async (title: string, ...groups: string[]) => {
    const dataProviders = groups.map((name) => ({
      name: name.split('/eventGroups/')[0]!,
      eventGroups: [{ name, interval: INTERVAL }],
    }));
    return (await consumer.create({ type: 'reach', title, privacy: PRIVACY, dataProviders })).name!;
  };
  const answered = await ask('Answered', group);
  await fulfillWith(streamly!, answered, reach(420_731n));
  const waiting = await ask('Waits for two publishers', group, other);
  const refused = await ask('Refused', other);
  const { name: refusedRequest, etag } = await requisitionOf(chirper!, refused);
  await chirper!.client.refuseRequisition({
    name: refusedRequest!,
    body: { etag: etag!, refusal: { justification: 'DECLINED', message: 'Not this month' } },
  });
  const report = await consumer.reports.create({
    title: 'Reach of one publisher',
    interval: { start: '2026-07-01', end: '2026-07-29', timeZone: 'UTC' },
    segments: { video: { eventGroups: [group] } },
    figures: [{ metric: 'reach', of: ['video'] }],
    budget: { rho: 0.01, delta: 1e-9 },
  });
  const measurements = [answered, waiting, refused].map((name) => `/measurements/${idOf(name)}`);
  const { token } = (exchange.dev as unknown as { duchies: { token: string }[] }).duchies[0]!;
  const { json } = await exchange.call(token, 'GET', '/v2alpha/duchies/alpha/computations');

  const parent = streamly!.name;
  const { name: schema } = await streamly!.client.createEventGroupMetadataDescriptor({
    parent,
    body: { descriptorSet: toBase64(leanSet) },
  });
  const webhooks = [acme, streamly!].map(async ({ name, client }) => {
    const { name: webhook } = await client.createWebhook({
      parent: name,
      body: { url: 'http://127.0.0.1:1/', description: 'To my own server' },
    });
    return `/webhooks/${idOf(webhook!)}`;
  });
  const [ofAcme, ofStreamly] = await Promise.all(webhooks);
  const requests = [answered, waiting].map(
    async (name) => `/requests/${idOf((await requisitionOf(streamly!, name)).name!)}`,
  );
  Object.assign(EXAMPLES, {
    '/measurements/$id': measurements,
    '/reports/$id': [`/reports/${idOf(report.name)}`],
    '/catalog/$id': [`/catalog/${idOf(group)}`],
    '/requests/$id': await Promise.all(requests),
    '/event-groups/$id': [`/event-groups/${idOf(group)}`],
    '/event-groups/$id/edit': [`/event-groups/${idOf(group)}/edit`],
    '/computations/$id': [`/computations/${idOf(json.computations[0].name)}`],
    '/schemas/$id': [`/schemas/${idOf(schema!)}`],
    'consumer /webhooks/$id': [ofAcme],
    'provider /webhooks/$id': [ofStreamly],
    'duchy /webhooks/$id': [],
  });
});

function pathsOf(role: Role): string[] {
  const paths = PAGES.filter(({ roles }) => roles.includes(role)).map(({ path }) => path);
  return paths.flatMap((path) => {
    if (!path.includes('$')) return [path];
    const examples = EXAMPLES[`${role} ${path}`] ?? EXAMPLES[path];
    if (examples === undefined) throw new Error(`Add an example of ${path} to this test.`);
    return examples;
  });
}

/** Opens a path as a link does, without loading the application again, and waits until the page has loaded all data. */
async function visit(page: Page, path: string): Promise<void> {
  const open = (to: string) => page.evaluate((to) => history.pushState(null, '', to), to);
  const isNowhere = () => document.querySelector('h1')?.textContent === 'There is no such page';
  // Open an unknown address first, so that the wait below does not find the heading of the previous page.
  await open('/nowhere');
  await page.waitForFunction(isNowhere);
  await open(path);
  await page.waitForFunction(() => {
    const heading = document.querySelector('h1')?.textContent;
    return heading && heading !== 'There is no such page' && !document.querySelector('[aria-busy=true]');
  });
  // Some parts of the page begin to load only after the page is shown.
  await page.waitForTimeout(100);
  await page.waitForFunction(() => !document.querySelector('[aria-busy=true]'));
}

/** Returns the keys in local and session storage, and the cookies that scripts can read. */
const stored = (page: Page) =>
  page.evaluate(() =>
    [...Object.keys(localStorage), ...Object.keys(sessionStorage), document.cookie].filter(Boolean),
  );

/** Visits every page of a role. The pages may call only their own server, and may store only the user's settings. */
async function checkAll(role: Role, { page, context, errors }: OpenPage): Promise<void> {
  const origin = new URL(page.url()).origin;
  const requests: string[] = [];
  context.on('request', (request) => requests.push(request.url()));
  await page.evaluate(() => {
    // Report violations as errors here, because the browser does not print all of them.
    document.addEventListener('securitypolicyviolation', (event) => console.error(event.violatedDirective));
  });
  for (const path of pathsOf(role)) {
    await visit(page, path);
    const failed = page.locator('.note.bad[role=alert]:has(code)');
    if ((await failed.count()) > 0) errors.push(`${path}: ${await failed.first().textContent()}`);
  }
  expect(errors).toEqual([]);
  expect(requests.length).toBeGreaterThan(0);
  expect(requests.filter((url) => new URL(url).origin !== origin)).toEqual([]);
  const withoutPages = requests.map((url) => url.replace(/[?&]pageToken=[^&]*/g, ''));
  expect(withoutPages.filter((url) => /eyJ[\w-]{10,}|token=|bearer/i.test(url))).toEqual([]);
  // Some libraries store something only when a page closes.
  await page.reload();
  expect((await stored(page)).filter((key) => !['theme', 'shortcuts'].includes(key))).toEqual([]);
}

describe.skipIf(lacksChromium)('every console page', () => {
  it.each([
    ['consumer', 'acme'],
    ['provider', 'streamly'],
    ['duchy', 'duchies/alpha'],
    ['operator', 'operator'],
  ] as const)('of the %s obeys its security policy in mex console', async (role, party) => {
    await checkAll(role, await c.open(party));
  });

  it.each([
    ['consumer', 'Acme Beverages'],
    ['provider', 'Streamly TV'],
    ['duchy', 'Alpha'],
    ['operator', 'Operator'],
  ] as const)('of the %s obeys its security policy at the exchange', async (role, displayName) => {
    await checkAll(role, await c.openAtExchange(displayName));
  });
});
