/** Shares of a provider, from its events to a duchy: what is in them, what is charged, and who may disturb it. */
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { nonceMatches, requisitionFingerprint } from '@measurement-exchange/consent';
import {
  ExchangeError,
  FULFILLMENT_PURPOSE,
  type Refusal,
  type Requisition,
} from '@measurement-exchange/contract';
import {
  type FakeDuchy,
  openUpload,
  type ReceivedUpload,
  startFakeDuchy,
} from '@measurement-exchange/testkit/fakeDuchy';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ExchangeClient } from '../../src/index.ts';
import {
  type AgentEvent,
  type AgentOptions,
  createAgent,
  type Events,
  type Ledger,
  openEvents,
  openLedger,
  QueryStopped,
} from '../../src/provider/index.ts';
import { keysOf, NOW, PROVIDER } from './requisitions.ts';
import {
  ALPHA,
  createDuchyWorld,
  type DuchyWorld,
  type SpoiledComputation,
  spoiledComputation,
} from './shareShuffleRequisitions.ts';

/** Person v of 1 … 12 has v events; two of them are not of the population 1 … 10. */
const EVENTS = Array.from({ length: 12 }, (_, i) => i + 1).flatMap((vid) =>
  Array.from({ length: vid }, (_, n) => `${vid},2026-07-0${1 + (n % 3)} 12:00:00,spring`),
);
/** The VIDs 1 … 10 in their order: a published fact of the reference system. */
const ORDER = [4, 9, 10, 5, 3, 6, 8, 2, 7, 1];
const DAYS = ['2026-07-01', '2026-07-02', '2026-07-03'];

let world: DuchyWorld;
let duchy: FakeDuchy;
let directory: string;
let events: Events;
beforeAll(async () => {
  world = await createDuchyWorld();
  duchy = await startFakeDuchy();
  directory = await mkdtemp(join(tmpdir(), 'mex-shares-'));
  const files = join(directory, 'events.csv');
  await writeFile(files, `vid,timestamp,event_group\n${EVENTS.join('\n')}\n,2026-07-01 12:00:00,spring\n`);
  events = await openEvents({ files, threads: 1 });
});
afterAll(async () => {
  await events.close();
  await duchy.close();
  await rm(directory, { recursive: true });
});

let ledger: Ledger;
let ledgerPath: string;
let folder: string;
let log: AgentEvent[];
let runs = 0;
const BUDGET = { epsilon: 10, delta: 1e-3, rho: 10 };
beforeEach(() => {
  duchy.uploads = [];
  duchy.next = [];
  log = [];
  ledgerPath = join(directory, `ledger-${++runs}.sqlite`);
  folder = join(directory, 'folder');
  ledger = openLedger(ledgerPath, BUDGET);
});
afterEach(async () => {
  expect(ledger.audit()).toEqual([]);
  ledger.close();
  // The order of the population stays: to make it takes a thread.
  await rm(join(folder, 'shares'), { recursive: true });
});

/** An exchange with one requisition, which is fulfilled when the duchy says so. */
interface Scripted {
  requisition: Requisition;
  refusals: Refusal[];
  agent(changes?: Partial<AgentOptions>): ReturnType<typeof createAgent>;
  capabilities: object[];
}

async function scripted(spoiled: SpoiledComputation = {}): Promise<Scripted> {
  const { draft, context, settings, fetchPopulation } = await spoiledComputation(world, spoiled);
  const requisition = await world.requisition(draft);
  const { fetchCertificate, fetchEventGroup, trust, references } = world.context(context);
  const refusals: Refusal[] = [];
  const capabilities: object[] = [];
  duchy.onStored = () => {
    requisition.state = 'FULFILLED';
  };
  const client = {
    async *listRequisitions() {
      if (requisition.state === 'UNFULFILLED') yield { ...requisition };
    },
    getRequisition: async () => ({ ...requisition }),
    getCertificate: ({ name }: { name: string }) => fetchCertificate(name),
    getEventGroup: ({ name }: { name: string }) => fetchEventGroup(name),
    getPopulation: ({ name }: { name: string }) => fetchPopulation(name),
    getParty: async ({ name }: { name: string }) =>
      name === ALPHA ? { name, state: 'ACTIVE', endpoint: duchy.endpoint } : { name, state: 'ACTIVE' },
    updateParty: async ({ body }: { body: { capabilities: object } }) => capabilities.push(body.capabilities),
    async refuseRequisition({ body }: { body: { refusal: Refusal } }) {
      refusals.push(body.refusal);
      requisition.state = 'REFUSED';
      return { ...requisition };
    },
  } as unknown as ExchangeClient;
  return {
    requisition,
    refusals,
    capabilities,
    agent: (changes) =>
      createAgent({
        client,
        credentials: {
          ...keysOf(world.provider),
          name: PROVIDER,
          certificate: `${PROVIDER}/certificates/c1`,
          privateKeyPem: world.provider.privateKeyPem,
        },
        trust,
        references,
        events,
        ledger,
        shareShuffle: { ...settings!, folder, allowHttp: true, uploadTimeoutSeconds: 2 },
        clock: { now: () => NOW, sleep: async () => {} },
        log: (event) => log.push(event),
        ...changes,
      }),
  };
}

const types = () => log.map(({ type }) => type).filter((type) => type !== 'progress');
const ONCE = { handled: 1, failed: 0 };
const LATER = { handled: 0, failed: 1 };
const shares = () => readdir(join(folder, 'shares'));

const opened = (upload: ReceivedUpload, modulus?: number) =>
  openUpload(upload, {
    provider: world.provider.certificatePem,
    peer: world.peerKeys.privateKeyset,
    modulus,
  });

const frequencySpec = (maximumFrequency: number): SpoiledComputation => {
  const params = { epsilon: 0.5, delta: 1e-9 };
  const value = { reachPrivacyParams: params, frequencyPrivacyParams: params, maximumFrequency };
  return { spec: { measurementType: { case: 'reachAndFrequency', value } } };
};

describe('an agent sends a duchy', () => {
  it('a share that gives, with the seed for the other worker, who was reached', async () => {
    const exchange = await scripted();
    expect(await exchange.agent().once()).toEqual(ONCE);
    const [upload] = duchy.uploads;
    const { message, seed, frequencies } = await opened(upload!);
    expect(frequencies).toEqual(ORDER.map(() => 1));
    expect(seed).toHaveLength(48);
    expect(upload!.path).toBe(`/v2alpha/${PROVIDER}/requisitions/r1:fulfill`);
    const { requisition } = exchange;
    expect(message).toMatchObject({
      purpose: FULFILLMENT_PURPOSE,
      requisition: requisition.name,
      requisitionFingerprint: await requisitionFingerprint(
        requisition.measurementSpec!.message,
        requisition.encryptedRequisitionSpec!.ciphertext,
      ),
      protocol: 'honestMajorityShareShuffle',
      populationFingerprint: world.config.populationFingerprint,
      registerCount: 10n,
      dataSha256: new Uint8Array(createHash('sha256').update(upload!.data).digest()),
      dataLength: BigInt(upload!.data.length),
      duchy: ALPHA,
      certificate: `${PROVIDER}/certificates/c1`,
    });
    expect(await nonceMatches(message.nonce, requisition.nonceHash!)).toBe(true);
    expect(types()).toEqual(['received', 'warning', 'fulfilled']);
    expect(log).toContainEqual({
      type: 'warning',
      requisition: requisition.name,
      message: '2 people are not of the population, and were left out.',
    });
    expect(await shares()).toEqual([]);
  });

  it.each<[string, SpoiledComputation, number[]]>([
    ['capped frequencies', frequencySpec(4), ORDER.map((vid) => Math.min(vid, 4))],
    [
      'a sample that goes on at the first register',
      { spec: { ...frequencySpec(20).spec, vidSamplingInterval: { start: 0.8, width: 0.4 } } as never },
      [7, 1, 4, 9],
    ],
    ['a ring of another size', { config: { ringModulus: 31 }, ...frequencySpec(14) }, ORDER],
  ])('%s', async (_what, spoiled, expected) => {
    const exchange = await scripted(spoiled);
    expect(await exchange.agent().once()).toEqual(ONCE);
    const modulus = spoiled.config?.ringModulus;
    expect((await opened(duchy.uploads[0]!, modulus)).frequencies).toEqual(expected);
  });

  it('nothing about who was reached, where nobody was', async () => {
    const nobody = join(directory, 'nobody.csv');
    await writeFile(nobody, 'vid,timestamp,event_group\n3,2026-01-01 12:00:00,spring\n');
    const empty = await openEvents({ files: nobody, threads: 1 });
    try {
      const exchange = await scripted();
      expect(await exchange.agent({ events: empty }).once()).toEqual(ONCE);
      expect((await opened(duchy.uploads[0]!)).frequencies).toEqual(ORDER.map(() => 0));
    } finally {
      await empty.close();
    }
  });

  it('another share of the same people each time', async () => {
    await (await scripted()).agent().once();
    await (await scripted({ relayed: { name: `${PROVIDER}/requisitions/r2` } })).agent().once();
    const [first, second] = await Promise.all(duchy.uploads.map((upload) => opened(upload)));
    expect(first!.frequencies).toEqual(second!.frequencies);
    expect(first!.share).not.toEqual(second!.share);
    expect(first!.seed).not.toEqual(second!.seed);
  });
});

describe('an agent', () => {
  it('waits quietly until the duchies are ready, and says so once', async () => {
    const exchange = await scripted();
    const { duchies } = exchange.requisition;
    delete exchange.requisition.duchies;
    const agent = exchange.agent();
    for (let i = 0; i < 3; i++) expect(await agent.once()).toEqual({ handled: 0, failed: 0 });
    expect(types()).toEqual(['waiting']);
    exchange.requisition.duchies = duchies!;
    expect(await agent.once()).toEqual(ONCE);
    expect(ledger.isCharged(exchange.requisition.name!)).toBe(true);
  });

  it('tells the exchange that it takes part, once', async () => {
    const exchange = await scripted();
    const agent = exchange.agent();
    await agent.once();
    await agent.once();
    expect(exchange.capabilities).toEqual([{ honestMajorityShareShuffleSupported: true }]);
  });

  it('charges what the duchies release, on each day, before it reads events', async () => {
    const exchange = await scripted();
    let charged: string[] = [];
    const people: Events['people'] = (...query) => {
      charged = ledger.spending().map(({ day }) => day);
      return events.people(...query);
    };
    await exchange.agent({ events: { ...events, people } }).once();
    expect(charged).toEqual(DAYS);
    for (const { spent } of ledger.spending()) {
      expect(spent.rho).toBeGreaterThan(0);
      expect(spent.delta).toBeGreaterThan(0);
    }
  });

  it('charges more for frequencies than for a reach, and as much again for the next', async () => {
    await (await scripted()).agent().once();
    const [reach] = ledger.spending();
    const second = { ...frequencySpec(5), relayed: { name: `${PROVIDER}/requisitions/r2` } };
    await (await scripted(second)).agent().once();
    const [both] = ledger.spending();
    expect(both!.spent.rho).toBeGreaterThanOrEqual(3 * reach!.spent.rho * 0.999);
  });

  it('charges an outcome that the events led to', async () => {
    const exchange = await scripted();
    const people = () => Promise.reject(new QueryStopped('too long'));
    await exchange.agent({ events: { ...events, people } }).once();
    expect(exchange.refusals).toMatchObject([{ justification: 'UNFULFILLABLE', message: 'QUERY_STOPPED' }]);
    expect(ledger.spending()).toHaveLength(3);
    expect(await shares()).toEqual([]);
  });

  it('refuses beyond the budget, without reading events', async () => {
    const exchange = await scripted({
      spec: {
        measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1000, delta: 1e-9 } } },
      },
    });
    const people = () => Promise.reject(new Error('read'));
    await exchange.agent({ events: { ...events, people } }).once();
    expect(exchange.refusals).toMatchObject([{ justification: 'INSUFFICIENT_PRIVACY_BUDGET' }]);
    expect(ledger.spending()).toEqual([]);
  });

  it('orders the people of a population once, and keeps that', async () => {
    folder = join(directory, 'empty');
    const exchange = await scripted();
    await exchange.agent().once();
    expect((await readdir(folder)).filter((name) => name !== 'shares')).toHaveLength(1);
    const ordering = log.filter((event) => event.type === 'progress' && event.stage === 'ordering');
    expect(ordering).toMatchObject([{ percent: 0 }, { percent: 100 }]);
  });
});

/** Each is sent, and the same bytes again afterwards. */
const FAILURES: [string, FakeDuchy['next'][number]][] = [
  ['hangs up', (request) => void request.socket.destroy()],
  [
    'hangs up after it stored the upload',
    async (request) => {
      for await (const _ of request);
      request.socket.destroy();
    },
  ],
  ['is overloaded', (_, response) => fails(response, 503, new ExchangeError('UNAVAILABLE', 'later'))],
  ['has a proxy that fails', (_, response) => void response.writeHead(502).end('<html>')],
];
function fails(response: ServerResponse, status: number, error: ExchangeError): void {
  const details = [
    {
      '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
      reason: error.reason,
      domain: 'measurement-exchange',
      metadata: {},
    },
  ];
  const body = { error: { code: status, status: error.code, message: error.message, details } };
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

describe('where the duchy', () => {
  it.each(FAILURES)('%s, the same bytes are sent again', async (_what, failure) => {
    const exchange = await scripted();
    const sent: Buffer[] = [];
    duchy.next = [failure];
    const agent = exchange.agent();
    expect(await agent.once()).toEqual(ONCE);
    sent.push(...duchy.uploads[0]!.parts);
    expect(duchy.uploads).toHaveLength(1);
    expect(Buffer.concat(sent).length).toBeGreaterThan(100);
    expect(types()).toEqual(['received', 'warning', 'fulfilled']);
  });

  it.each<[string, FakeDuchy['next'][number], string]>([
    [
      'rejects the upload',
      (_, response) => fails(response, 400, new ExchangeError('UPLOAD_MISMATCH', 'no')),
      'UPLOAD_MISMATCH',
    ],
    [
      'has stored something else',
      (_, response) => fails(response, 409, new ExchangeError('UPLOAD_ALREADY_EXISTS', 'no')),
      'UPLOAD_ALREADY_EXISTS',
    ],
    [
      'says that the requisition is gone',
      (_, response) => fails(response, 404, new ExchangeError('REQUISITION_NOT_FOUND', 'no')),
      'REQUISITION_NOT_FOUND',
    ],
    [
      'redirects elsewhere',
      (_, response) => void response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end(),
      'status 307',
    ],
    [
      'does not answer in its own words',
      (_, response) => void response.writeHead(404).end('{"error": 1}'),
      'status 404',
    ],
  ])('%s, it is left open, logged, and sent again later', async (_what, failure, why) => {
    const exchange = await scripted();
    duchy.next = [failure];
    const agent = exchange.agent();
    expect(await agent.once()).toEqual(LATER);
    expect(log.at(-1)).toMatchObject({ type: 'retrying', why: expect.stringContaining(why) });
    const [stored] = await shares();
    expect(stored).toBe('streamly.r1.share');
    expect(exchange.refusals).toEqual([]);
    expect(await agent.once()).toEqual(ONCE);
    expect((await opened(duchy.uploads[0]!)).frequencies).toEqual(ORDER.map(() => 1));
    expect(types()).toEqual(['received', 'warning', 'retrying', 'resending', 'fulfilled']);
  });

  it('stored it and lost its response, the requisition is seen to be fulfilled', async () => {
    const exchange = await scripted();
    duchy.next = [
      (_, response) => {
        exchange.requisition.state = 'FULFILLED';
        fails(response, 409, new ExchangeError('UPLOAD_ALREADY_EXISTS', 'again'));
      },
    ];
    expect(await exchange.agent().once()).toEqual(ONCE);
    expect(types()).toEqual(['received', 'warning', 'fulfilled']);
    expect(await shares()).toEqual([]);
  });

  it('says that it stored it, and tells nobody, it is sent again', async () => {
    const exchange = await scripted();
    duchy.onStored = () => {};
    const agent = exchange.agent();
    expect(await agent.once()).toEqual(LATER);
    expect(log.at(-1)).toMatchObject({ why: expect.stringContaining('did not report it') });
    duchy.onStored = () => {
      exchange.requisition.state = 'FULFILLED';
    };
    expect(await agent.once()).toEqual(ONCE);
    const [first, second] = duchy.uploads;
    expect(second!.parts).toEqual(first!.parts);
    expect(ledger.spending()).toHaveLength(3);
  });

  it('never answers, others are served after a while', async () => {
    const exchange = await scripted();
    const silence = () => {};
    duchy.next = [silence, silence, silence];
    const settings = { uploadTimeoutSeconds: 0.05 };
    const agent = exchange.agent({
      shareShuffle: { ...world.settings, folder, allowHttp: true, ...settings },
    });
    expect(await agent.once()).toEqual(LATER);
    expect(log.at(-1)).toMatchObject({ why: expect.stringContaining('takes too long') });
  });

  it('answers without end, no more than a piece is read', async () => {
    const exchange = await scripted();
    let written = 0;
    duchy.next = [
      async (request, response) => {
        request.resume();
        response.writeHead(400);
        const piece = 'x'.repeat(1 << 16);
        while (!response.destroyed && written < 1000) {
          response.write(piece);
          written++;
          await sleep(1);
        }
      },
    ];
    expect(await exchange.agent().once()).toEqual(LATER);
    expect(log.at(-1)).toMatchObject({ why: expect.stringContaining('status 400') });
    expect(written).toBeLessThan(500);
  });

  it('answers in the middle of the upload, that is what counts', async () => {
    const exchange = await scripted();
    duchy.next = [(_, response) => fails(response, 400, new ExchangeError('UPLOAD_MISMATCH', 'early'))];
    expect(await exchange.agent().once()).toEqual(LATER);
    expect(log.at(-1)).toMatchObject({ why: expect.stringContaining('early') });
  });

  it.each<[string, object, string]>([
    ['has no endpoint', { name: ALPHA }, 'no endpoint'],
    ['has an endpoint with a path', { endpoint: 'https://duchy.example/x' }, 'no URL of a host'],
    ['has an endpoint that is none', { endpoint: 'duchy' }, 'no URL of a host'],
    ['has an endpoint without TLS', { endpoint: 'http://127.0.0.1:1' }, 'is not https'],
  ])('%s, nothing is sent', async (_what, party, why) => {
    const exchange = await scripted();
    const endpoint = duchy.endpoint;
    const agent = exchange.agent({ shareShuffle: { ...world.settings, folder } });
    duchy.endpoint = (party as { endpoint?: string }).endpoint as string;
    try {
      expect(await agent.once()).toEqual(LATER);
    } finally {
      duchy.endpoint = endpoint;
    }
    expect(log.at(-1)).toMatchObject({ why: expect.stringContaining(why) });
    expect(duchy.uploads).toEqual([]);
  });

  it('has an endpoint in the settings, that one is used', async () => {
    const exchange = await scripted();
    const { duchies } = world.settings;
    const pinned = { ...duchies, [ALPHA!]: { ...duchies[ALPHA!]!, endpoint: duchy.endpoint } };
    const endpoint = duchy.endpoint;
    duchy.endpoint = 'http://127.0.0.1:1';
    try {
      const shareShuffle = { ...world.settings, duchies: pinned, folder, allowHttp: true };
      expect(await exchange.agent({ shareShuffle }).once()).toEqual(ONCE);
    } finally {
      duchy.endpoint = endpoint;
    }
  });
});

describe('after a crash', () => {
  /** As far as `people` lets it, then everything is opened anew. */
  const reopen = () => {
    ledger.close();
    ledger = openLedger(ledgerPath, BUDGET);
  };

  it('between charge and share, another share is made, and charged once', async () => {
    const exchange = await scripted();
    const people = () => Promise.reject(new Error('crash'));
    expect(await exchange.agent({ events: { ...events, people } }).once()).toEqual(LATER);
    const before = ledger.spending();
    reopen();
    expect(await exchange.agent().once()).toEqual(ONCE);
    expect(ledger.spending()).toEqual(before);
  });

  it('between share and upload, the stored bytes are sent, though the events have changed', async () => {
    const exchange = await scripted();
    duchy.next = FAILURES.slice(0, 1).flatMap(([, failure]) => [failure, failure, failure]);
    expect(await exchange.agent().once()).toEqual(LATER);
    const before = ledger.spending();
    reopen();
    const people = () => Promise.reject(new Error('read again'));
    expect(await exchange.agent({ events: { ...events, people } }).once()).toEqual(ONCE);
    expect((await opened(duchy.uploads[0]!)).frequencies).toEqual(ORDER.map(() => 1));
    expect(ledger.spending()).toEqual(before);
  });

  it('a share that is lost is not made again: it is refused', async () => {
    const exchange = await scripted();
    duchy.next = [(_, response) => fails(response, 400, new ExchangeError('UPLOAD_MISMATCH', 'no'))];
    await exchange.agent().once();
    await rm(join(folder, 'shares', 'streamly.r1.share'));
    expect(await exchange.agent().once()).toEqual(ONCE);
    expect(exchange.refusals).toEqual([{ justification: 'UNFULFILLABLE', message: 'UPLOAD_LOST' }]);
    expect(duchy.uploads).toEqual([]);
  });

  it('what no open requisition needs is removed', async () => {
    const exchange = await scripted();
    duchy.next = [(_, response) => fails(response, 400, new ExchangeError('UPLOAD_MISMATCH', 'no'))];
    const agent = exchange.agent();
    await agent.once();
    await writeFile(join(folder, 'shares', 'streamly.r7.share.part'), 'half');
    await writeFile(join(folder, 'shares', 'chirper.r1.share'), 'of another provider');
    exchange.requisition.state = 'WITHDRAWN';
    await agent.once();
    expect(await shares()).toEqual(['chirper.r1.share']);
  });
});

it('the same requisition with another specification gets what was stored for the first', async () => {
  const exchange = await scripted();
  duchy.next = [(_, response) => fails(response, 400, new ExchangeError('UPLOAD_MISMATCH', 'no'))];
  await exchange.agent().once();
  const other = await scripted(frequencySpec(5));
  await other.agent().once();
  expect((await opened(duchy.uploads[0]!)).message.requisitionFingerprint).toEqual(
    await requisitionFingerprint(
      exchange.requisition.measurementSpec!.message,
      exchange.requisition.encryptedRequisitionSpec!.ciphertext,
    ),
  );
});
