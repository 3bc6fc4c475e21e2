import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { TYPE_URLS, toBase64 } from '@measurement-exchange/contract';
import { lacksChromium, launchChromium } from '@measurement-exchange/testkit/chromium';
import { leanSet, serialize, typeUrl } from '@measurement-exchange/testkit/metadataSets';
import {
  events,
  frequency,
  fulfillWith,
  impression,
  type Party,
  PRIVACY,
  population,
  type ResultInit,
  reach,
  startWorld,
  type World,
  watchDuration,
} from '@measurement-exchange/testkit/world';
import { build } from 'esbuild';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createEncryptionKeysets, signEncryptionKey } from '../../src/identity/index.ts';
import {
  EVENT_GROUP_METADATA_TYPE_URL,
  encrypt,
  type MeasurementRequest,
  packEventGroupMetadata,
} from '../../src/index.ts';
import { cut, cutAfter, endAfter, type StreamProxy, startProxy } from '../client/proxy.ts';
import type { Page, PageOptions } from './page.ts';

let w: World;
let browser: Browser;
let server: Server;
let stranger: Server;
let options: PageOptions;

/** Bundles the page into one script, as an application would. An import of a Node module would fail the build. */
async function bundle(): Promise<Uint8Array> {
  const entry = fileURLToPath(new URL('page.ts', import.meta.url));
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    platform: 'browser',
    format: 'esm',
    target: 'es2024',
    minify: true,
    write: false,
    logLevel: 'silent',
  });
  return outputFiles[0]!.contents;
}

async function serve(script: Uint8Array): Promise<Server> {
  const started = createServer((request, response) => {
    const isScript = request.url === '/page.js';
    response.setHeader('content-type', isScript ? 'text/javascript' : 'text/html');
    response.end(isScript ? script : '<!doctype html><script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => started.listen(0, '127.0.0.1', resolve));
  return started;
}

function originOf(from: Server): string {
  return `http://127.0.0.1:${(from.address() as AddressInfo).port}`;
}

beforeAll(async () => {
  const script = await bundle();
  const kilobytes = (bytes: number) => `${Math.round(bytes / 1024)} KiB`;
  const sizes = [`${kilobytes(script.length)} minified`, `${kilobytes(gzipSync(script).length)} gzipped`];
  console.info(`bundle of a consumer: ${sizes.join(', ')}`);
  [server, stranger] = [await serve(script), await serve(script)];
  [w, browser] = await Promise.all([startWorld({ corsOrigins: [originOf(server)] }), launchChromium()]);
  const { client: _client, encryptionPublicKey, encryptionPrivateKey, ...acme } = w.acme;
  options = {
    ...acme,
    baseUrl: w.exchange.url,
    token: w.exchange.dev.measurementConsumers[0]!.token,
    rootPem: w.root.certificatePem,
    encryptionPublicKey: toBase64(encryptionPublicKey),
    encryptionPrivateKey: toBase64(encryptionPrivateKey),
  };
});
afterAll(async () => {
  await browser?.close();
  server?.close();
  stranger?.close();
  expect(await w.exchange.stop()).toEqual([]);
});

/** Opens the page from this server, and collects the errors of its script. */
async function open(from: Server) {
  const tab = await browser.newPage();
  const errors: Error[] = [];
  tab.on('pageerror', (error) => errors.push(error));
  await tab.goto(originOf(from));
  await tab.waitForFunction(() => 'page' in globalThis);
  return { tab, errors };
}

declare const page: Page;

it.skipIf(lacksChromium)('a page in Chromium measures all measurement types', async () => {
  // Give one provider an X25519 key, so that both kinds of encryption keys are tested.
  const keysets = await createEncryptionKeysets('DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM');
  const publicKey = await signEncryptionKey(keysets.publicKeyset, w.chirper.privateKeyPem);
  await w.chirper.client.updateParty({ name: w.chirper.name, body: { publicKey } });
  const chirper = { ...w.chirper, encryptionPrivateKey: keysets.privateKeyset };

  const both = { privacy: PRIVACY, dataProviders: events(w.streamly, chirper) };
  const cases: [MeasurementRequest, [Party, ResultInit][]][] = [
    [
      { ...both, type: 'reach' },
      [
        [w.streamly, reach(1200n)],
        [chirper, reach(800n)],
      ],
    ],
    [
      { ...both, type: 'reachAndFrequency', maximumFrequency: 2, dataProviders: events(w.streamly) },
      [[w.streamly, { ...reach(1000n), ...frequency({ '1': 0.75, '2': 0.25 }) }]],
    ],
    [
      { ...both, type: 'impression', maximumFrequencyPerUser: 3 },
      [
        [w.streamly, impression(30n)],
        [chirper, impression(12n)],
      ],
    ],
    [
      { ...both, type: 'duration', maximumWatchDurationSeconds: 60 },
      [
        [w.streamly, watchDuration(100n, 500_000_000)],
        [chirper, watchDuration(7n)],
      ],
    ],
    [
      { type: 'population', dataProviders: [{ name: w.streamly.name }] },
      [[w.streamly, population(83_000_000n)]],
    ],
  ];
  const { tab, errors } = await open(server);
  let replies: [Party, ResultInit][] = [];
  await tab.exposeFunction('created', async (name: string) => {
    for (const [provider, result] of replies) await fulfillWith(provider, name, result);
  });
  const results = [];
  for (const [request, given] of cases) {
    replies = given;
    results.push(await tab.evaluate(([o, r]) => page.measure(o, r), [options, request] as const));
  }
  const [reached, frequent, impressions, watched, people] = results;
  expect(reached!.total.reach!.bounds).toEqual([1200, 2000]);
  expect(reached!.dataProviders.map((p) => p.reach!.value).sort()).toEqual([1200, 800]);
  expect(frequent!.dataProviders[0]!.frequency!.map((f) => f.count.value)).toEqual([750, 250]);
  expect(impressions!.total.impressions!.value).toBe(42);
  expect(watched!.total.watchDurationSeconds!.value).toBe(107.5);
  expect(people!.dataProviders[0]!.population!.value).toBe(83_000_000);
  // Check that Node computes the same result, including the uncertainty, as the page.
  const again = await w.consumer.open(await w.consumer.wait(reached!.measurement));
  expect(reached).toEqual(JSON.parse(JSON.stringify(again)));

  const altered = await tab.evaluate(([o, n]) => page.openAltered(o, n), [
    options,
    reached!.measurement,
  ] as const);
  expect(altered).toBe('ResultRejected DECRYPTION_FAILED');
  expect(errors).toEqual([]);
  await tab.close();
});

it.skipIf(lacksChromium)('a page in Chromium reads event groups', async () => {
  const { name } = await w.streamly.client.createEventGroupMetadataDescriptor({
    parent: w.streamly.name,
    body: { descriptorSet: toBase64(leanSet) },
  });
  const episode = {
    title: 'Grüße 🎬',
    airDate: { year: 2026, month: 2 },
    impressions: '18446744073709551615',
  };
  const metadata = packEventGroupMetadata({
    eventGroupMetadataDescriptor: name!,
    typeUrl: typeUrl('shows.Episode'),
    value: serialize('shows.Episode', episode),
  });
  await w.streamly.client.createEventGroup({
    parent: w.streamly.name,
    body: {
      measurementConsumer: w.acme.name,
      encryptedMetadata: {
        ciphertext: await encrypt(w.acme.encryptionPublicKey, metadata),
        typeUrl: EVENT_GROUP_METADATA_TYPE_URL,
      },
      measurementConsumerPublicKey: {
        '@type': TYPE_URLS.EncryptionPublicKey,
        data: w.acme.encryptionPublicKey,
      },
    },
  });
  const { tab } = await open(server);
  expect(await tab.evaluate((o) => page.eventGroups(o), options)).toEqual([episode]);
  await tab.close();
});

const STREAMS = {
  'are interrupted': {
    treatmentOf: (n: number) => [cutAfter(2), endAfter(2)][n - 1],
    isUnderWay: ({ streams }: StreamProxy) => streams >= 2,
    warnings: [],
  },
  'are blocked': {
    treatmentOf: () => cut,
    isUnderWay: ({ pages }: StreamProxy) => pages > 3,
    warnings: [expect.stringContaining('do not arrive as a stream')],
  },
};

it.skipIf(lacksChromium).each(Object.entries(STREAMS))(
  'a page in Chromium receives all changes if streams %s',
  async (_, { treatmentOf, isUnderWay, warnings }) => {
    const proxy = await startProxy(w.exchange.url, treatmentOf);
    const { tab } = await open(server);
    const { promise: beginning, resolve: began } = Promise.withResolvers<void>();
    await tab.exposeFunction('began', began);
    const watched = tab.evaluate(([o, n]) => page.watch(o, n), [
      { ...options, baseUrl: proxy.url },
      6,
    ] as const);
    await Promise.race([beginning, watched]);
    const made: string[] = [];
    for (let i = 0; i < 6; i++) {
      if (i === 3) await vi.waitUntil(() => isUnderWay(proxy), { timeout: 90_000 });
      const body = { measurementConsumer: w.acme.name };
      const { name } = await w.streamly.client.createEventGroup({ parent: w.streamly.name, body });
      made.push(name!.split('/').at(-1)!);
    }
    expect(await watched).toEqual({ ids: made, warnings });
    // Only a minimum is checked, because Chromium itself retries a request once if it gets no response.
    expect(proxy.streams).toBeGreaterThanOrEqual(3);
    await expect.poll(() => proxy.open).toBe(0);
    await tab.close();
  },
);

it.skipIf(lacksChromium)('a page of an origin that the operator did not list gets no response', async () => {
  const { name } = await w.consumer.create({
    type: 'reach',
    privacy: PRIVACY,
    dataProviders: events(w.streamly),
  });
  await fulfillWith(w.streamly, name!, reach(1n));
  const failureFrom = async (from: Server) => {
    const { tab } = await open(from);
    const failed = await tab.evaluate(([o, n]) => page.failure(o, n), [options, name!] as const);
    await tab.close();
    return failed;
  };
  expect(await failureFrom(server)).toBe('nothing');
  expect(await failureFrom(stranger)).toBe('Unreachable');
});
