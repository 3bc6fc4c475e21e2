/**
 * Tests that an agent's refusal contains nothing from the encrypted specification or the events, and none of the
 * provider's own names.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Refusal, Requisition } from '@measurement-exchange/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ExchangeClient, REFUSAL_CODES, refusalCodeOf } from '../../src/index.ts';
import {
  type AgentEvent,
  type AgentOptions,
  createAgent,
  type Events,
  type Ledger,
  openEvents,
  openLedger,
  openPopulation,
  QueryStopped,
} from '../../src/provider/index.ts';
import {
  entry,
  eventGroups,
  keysOf,
  NOW,
  PROVIDER,
  privacy,
  SPRING,
  type Spoiled,
  text,
  type World,
} from './requisitions.ts';
import { ALPHA, createDuchyWorld, type DuchyWorld, spoiledComputation } from './shareShuffleRequisitions.ts';
import { SPOILED_COMPUTATIONS } from './spoiledComputations.ts';
import { SPOILED } from './spoiledRequisitions.ts';

/** The tests put this marker into every name and value that only the consumer and the provider may see. */
const MARKER = 'zqx';
const GROUP = `${PROVIDER}/eventGroups/zqxgroup`;

let world: DuchyWorld;
let directory: string;
let events: Events;
let ofOneModelLine: Events;
let ledger: Ledger;
beforeAll(async () => {
  world = await createDuchyWorld();
  directory = await mkdtemp(join(tmpdir(), 'mex-refusals-'));
  const files = join(directory, 'zqxfile.csv');
  await writeFile(
    files,
    'vid,timestamp,event_group,zqxcolumn,zqxunlisted\n1,2026-07-01 12:00:00,zqxreference,zqxvalue,zqxsecret\n',
  );
  events = await openEvents({ files, threads: 1, columns: { attributes: ['zqxcolumn'] } });
  ofOneModelLine = await openEvents({ files, threads: 1, vidColumns: { 'modelLines/zqxline': 'vid' } });
  ledger = openLedger(join(directory, 'ledger.sqlite'), { epsilon: 1, delta: 0, rho: 0 });
});
afterAll(async () => {
  ledger.close();
  await events.close();
  await ofOneModelLine.close();
  await rm(directory, { recursive: true });
});

let asked = 0;

/** Lets an agent refuse a requisition. Returns the refusal that the agent sends, logs, and stores in the ledger. */
async function refusalOf(
  { context, ...draft }: Spoiled,
  options: Partial<AgentOptions> = {},
  name = `${PROVIDER}/requisitions/r${++asked}`,
) {
  const requisition = await world.requisition({ ...draft, relayed: { name, ...draft.relayed } });
  const { fetchCertificate, fetchEventGroup, trust, references, now, shareShuffle } = world.context(context);
  const sent: { refusal: Refusal; etag: string }[] = [];
  const log: AgentEvent[] = [];
  const client = {
    async *listRequisitions() {
      yield requisition;
    },
    getRequisition: async () => requisition,
    getCertificate: ({ name }: { name: string }) => fetchCertificate(name),
    getEventGroup: ({ name }: { name: string }) => fetchEventGroup(name),
    getPopulation: ({ name }: { name: string }) => shareShuffle!.fetchPopulation(name),
    getParty: async () => ({ capabilities: { honestMajorityShareShuffleSupported: true } }),
    async refuseRequisition({ body }: { body: { refusal: Refusal; etag: string } }): Promise<Requisition> {
      sent.push(body);
      return { ...requisition, state: 'REFUSED' };
    },
  } as unknown as ExchangeClient;
  const agent = createAgent({
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
    clock: { now: () => now.getTime(), sleep: async () => {} },
    log: (event) => log.push(event),
    ...options,
  });
  await agent.once();
  expect(sent, JSON.stringify(log)).toHaveLength(1);
  const logged = log.find((event) => event.type === 'refused')!;
  return { body: sent[0]!, refusal: sent[0]!.refusal, logged, stored: ledger.response(name) };
}

const asking = (filter: string, group = GROUP): Spoiled => ({
  requisitionSpec: eventGroups(entry(SPRING), entry(group, filter)),
});
const population = (filter: string): Spoiled => ({
  spec: { measurementType: { case: 'population', value: {} }, vidSamplingInterval: undefined },
  requisitionSpec: { requisitionType: { case: 'population', value: { filter: { expression: filter } } } },
});
const list = (length: number) => `[${Array.from({ length }, () => "'zqxliteral'").join()}]`;

const FILTERS = [
  "zqxcolumn == 'zqxliteral",
  "zqxcolumn == 'zqxliteral' zqxword",
  "zqxcolumn == 'zqxliteral\ud800'",
  "zqxunknown == 'zqxliteral'",
  "zqxunknown.zqxmember == 'zqxliteral'",
  'zqxcolumn == 5',
  'zqxcolumn',
  'zqxcolumn && true',
  "zqxcolumn ? true : zqxcolumn == 'zqxliteral'",
  "true ? zqxcolumn : 5 == 'zqxliteral'",
  "'zqxliteral' in zqxcolumn",
  '5 in [zqxcolumn]',
  'zqxcolumn[zqxcolumn] == 5',
  "zqxcolumn.zqxmethod('zqxliteral')",
  "zqxfunction(zqxcolumn) == 'zqxliteral'",
  'size(zqxcolumn, zqxcolumn) == 1',
  'zqxcolumn.zqxmember == 1',
  'has(zqxcolumn)',
  "'zqxliteral' == null",
  "zqxcolumn.all(zqxvariable, zqxvariable == 'zqxliteral')",
  "zqx.zqxmessage{zqxmember: 1} == null && zqxcolumn == 'zqxliteral'",
  "['zqxliteral'].map(zqxvariable, zqxvariable + zqxvariable) == [zqxcolumn]",
  "zqxcolumn.matches('(zqxliteral')",
  "timestamp('zqxliteral') == timestamp('zqxliteral')",
  'zqxcolumn == string(99999999999999999999)',
  `zqxcolumn == '${'zqxliteral'.repeat(4000)}'`,
  `${'('.repeat(16_000)}zqxcolumn == 'zqxliteral'${')'.repeat(16_000)}`,
  `${"zqxcolumn + 'zqxliteral' + ".repeat(200)} zqxcolumn == 'zqxliteral'`,
  `zqxcolumn in ${list(1001)}`,
  `${list(300)}.all(a, ${list(300)}.all(b, a + b == zqxcolumn))`,
];

type Case = [
  what: string,
  draft: (world: World) => Spoiled | Promise<Spoiled>,
  options?: Partial<AgentOptions>,
];
const CASES: Case[] = [
  ...SPOILED.map(([what, , , spoil]): Case => [what, spoil]),
  ...FILTERS.map((filter): Case => [`the filter ${filter.slice(0, 60)}`, () => asking(filter)]),
  [
    'a population filter',
    () => population("zqxunknown == 'zqxliteral'"),
    {
      population: openPopulation({
        subpopulations: [{ vidRanges: [{ start: 1, end: 2 }], attributes: { zqxcolumn: 'zqxvalue' } }],
      }),
    },
  ],
  ['a population that is not offered', () => population("zqxcolumn == 'zqxliteral'")],
  ['events that are not offered', () => asking("zqxcolumn == 'zqxliteral'"), { events: undefined }],
  [
    'a model line without VIDs',
    () => asking("zqxcolumn == 'zqxliteral'"),
    { events: async () => ofOneModelLine },
  ],
  [
    'durations that are not recorded',
    () => ({
      ...asking("zqxcolumn == 'zqxliteral'"),
      spec: {
        measurementType: {
          case: 'duration',
          value: { ...privacy(1), maximumWatchDurationPerUser: { seconds: 5n } },
        },
      },
    }),
  ],
  [
    'Gaussian noise without a delta',
    () => ({
      ...asking("zqxcolumn == 'zqxliteral'"),
      spec: { measurementType: { case: 'reach', value: privacy(1, 0) } },
    }),
    { noise: 'DISCRETE_GAUSSIAN' },
  ],
  [
    'a query that exceeds a limit',
    () => ({
      ...asking("zqxcolumn == 'zqxliteral'"),
      spec: { measurementType: { case: 'reach', value: privacy(0.1, 0) } },
    }),
    {
      events: {
        check: async () => {},
        frequencies: () => Promise.reject(new QueryStopped('More than 7 values of zqxcolumn.')),
      } as unknown as Events,
    },
  ],
  ['an insufficient budget', () => asking("zqxcolumn == 'zqxliteral'")],
  ['another provider’s event group', () => asking('true', 'dataProviders/chirper/eventGroups/zqxgroup')],
  ['an invalid name of an event group', () => asking('true', 'zqxgroup')],
  ['JSON with an unknown member', () => ({ requisitionSpec: text({ nonce: 1, zqxmember: {} }) })],
  [
    'JSON with a value of the wrong type',
    () => ({ requisitionSpec: text({ nonce: 'zqxliteral', events: 'zqxliteral' }) }),
  ],
  [
    'truncated JSON',
    () => ({ requisitionSpec: text({ nonce: 1, events: { eventGroups: [{ key: GROUP }] } }).slice(0, -3) }),
  ],
  [
    'invalid UTF-8',
    () => ({ requisitionSpec: Uint8Array.of(0x0a, 6, 0x0a, 4, ...Buffer.from('zqx'), 0xff) }),
  ],
];

/** A refusal code, optionally followed by a consent fault code, a place and a position. */
const CLOSED =
  /^[A-Z_]+( \([A-Z_]+\))?( at (events(\[\d+\](\.filter|\.interval|, day \d+)?)?|population(\.filter)?|[a-zA-Z]+(\.[a-zA-Z.[\]\d]+)?))?(, line \d+, column \d+)?$/;
const seen = new Set<string | undefined>();

describe('a refusal', () => {
  it.each(CASES)(
    'sends only a code and a position, nothing of the specification or the events: %s',
    async (_what, draft, options) => {
      const { body, refusal, logged, stored } = await refusalOf(await draft(world), options);
      expect(JSON.stringify(body)).not.toMatch(new RegExp(`${MARKER}|spring|chirper`, 'i'));
      expect(refusal.message).toMatch(CLOSED);
      const code = refusalCodeOf(refusal.message)!;
      expect(refusal.justification).toBe(REFUSAL_CODES[code].justification);
      expect(logged).toMatchObject({ sent: refusal.message, message: expect.stringContaining(' ') });
      expect(stored).toEqual({ refusal });
      seen.add(code);
    },
  );

  it.each(SPOILED_COMPUTATIONS)(
    'sends only a code and a position for a computation: %s',
    async (_what, justification, _says, spoil) => {
      const { draft, context, settings } = await spoiledComputation(world, await spoil(world));
      const shareShuffle = settings && { ...settings, folder: directory };
      const { refusal } = await refusalOf({ ...draft, context }, shareShuffle ? { shareShuffle } : {});
      expect(refusal.message).toMatch(CLOSED);
      expect(refusal.justification).toBe(justification);
      seen.add(refusalCodeOf(refusal.message));
    },
  );

  it.each([
    ['UPLOAD_LOST', 'a lost share', 0],
    ['UPLOAD_REJECTED', 'an upload that its duchy rejects', 8],
  ])('sends only the code %s for %s', async (code, _what, count) => {
    const name = `${PROVIDER}/requisitions/${code}`;
    ledger.begin(name, []);
    ledger.commit(name, { upload: { duchy: ALPHA!, fulfillment: '{}' } });
    if (count > 0) ledger.rejections.set(name, { count, countedAt: NOW, why: `${MARKER} of a duchy` });
    const { draft, context, settings } = await spoiledComputation(world);
    const shareShuffle = { ...settings!, folder: directory };
    const { refusal, stored } = await refusalOf({ ...draft, context }, { shareShuffle }, name);
    expect(refusal.message).toBe(code);
    expect(stored).toMatchObject({ upload: { duchy: ALPHA } });
    seen.add(refusalCodeOf(refusal.message));
  });

  it('is tested with every refusal code', () => {
    expect([...seen].sort()).toEqual(Object.keys(REFUSAL_CODES).sort());
  });
});

it('the log of a refusal has details that are not sent to the exchange', async () => {
  const { refusal, logged } = await refusalOf(asking("zqxunknown == 'zqxliteral'"));
  expect(refusal.message).toBe('FILTER_ATTRIBUTE at events[1].filter, line 1, column 1');
  expect(logged).toMatchObject({ message: expect.stringContaining('there are: zqxcolumn') });
});

it('a filter on an unlisted column is refused like a filter on an unknown column', async () => {
  const unlisted = await refusalOf(asking("zqxunlisted == 'zqxliteral'"));
  const unknown = await refusalOf(asking("zqxunknown == 'zqxliteral'"));
  expect(unlisted.refusal).toEqual(unknown.refusal);
});
