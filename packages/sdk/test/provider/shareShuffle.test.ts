/**
 * Tests a provider's shares from its events to a duchy: their content, their charge, and what happens to them after a
 * crash.
 */
import { createHash } from 'node:crypto';
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { nonceMatches, requisitionFingerprint } from '@measurement-exchange/consent';
import { ExchangeError, FULFILLMENT_PURPOSE } from '@measurement-exchange/contract';
import type { Behavior } from '@measurement-exchange/testkit/fakeDuchy';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Events, openEvents, QueryStopped } from '../../src/provider/index.ts';
import { PROVIDER } from './requisitions.ts';
import { ALPHA, BETA, GAMMA, type SpoiledComputation } from './shareShuffleRequisitions.ts';
import {
  CLOSED,
  frequencySpec,
  OPEN,
  ORDER,
  responds,
  type ShareWorld,
  startShareWorld,
} from './shareWorld.ts';

const DAYS = ['2026-07-01', '2026-07-02', '2026-07-03'];

let world: ShareWorld;
beforeAll(async () => {
  world = await startShareWorld();
});
beforeEach(() => world.begin());
afterEach(async () => expect(await world.end()).toEqual([]));
afterAll(() => world.stop());

describe('the share that an agent uploads', () => {
  it('contains the reached people, if combined with the seed for the other worker', async () => {
    const exchange = await world.scripted();
    expect(await exchange.agent().once()).toEqual(CLOSED);
    const [upload] = world.duchy.uploads;
    const { message, seed, frequencies } = await world.opened(upload!);
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
      protocolData: {
        value: {
          firstWorker: ALPHA,
          secondWorker: BETA,
          aggregator: GAMMA,
          noiseMechanism: 'DISCRETE_GAUSSIAN',
          ringModulus: 127,
        },
      },
    });
    expect(await nonceMatches(message.nonce, requisition.nonceHash!)).toBe(true);
    expect(world.types()).toEqual(['received', 'warning', 'fulfilled']);
    expect(world.log).toContainEqual({
      type: 'warning',
      requisition: requisition.name,
      message: '2 people are not in the population, and were left out.',
    });
    expect(await world.shares()).toEqual([]);
  });

  it.each<[string, SpoiledComputation, number[]]>([
    ['capped frequencies', frequencySpec(4), ORDER.map((vid) => Math.min(vid, 4))],
    [
      'a VID sample that wraps around to the first register',
      { spec: { ...frequencySpec(20).spec, vidSamplingInterval: { start: 0.8, width: 0.4 } } as never },
      [7, 1, 4, 9],
    ],
    ['frequencies in a ring of another size', { config: { ringModulus: 31 }, ...frequencySpec(14) }, ORDER],
  ])('contains %s', async (_what, spoiled, expected) => {
    const exchange = await world.scripted(spoiled);
    expect(await exchange.agent().once()).toEqual(CLOSED);
    const modulus = spoiled.config?.ringModulus;
    expect((await world.opened(world.duchy.uploads[0]!, modulus)).frequencies).toEqual(expected);
  });

  it('contains the frequency 0 for every register if no person was reached', async () => {
    const nobody = join(world.directory, 'nobody.csv');
    await writeFile(nobody, 'vid,timestamp,event_group\n3,2026-01-01 12:00:00,spring\n');
    const empty = await openEvents({ files: nobody, threads: 1 });
    try {
      const exchange = await world.scripted();
      expect(await exchange.agent({ events: empty }).once()).toEqual(CLOSED);
      expect((await world.opened(world.duchy.uploads[0]!)).frequencies).toEqual(ORDER.map(() => 0));
    } finally {
      await empty.close();
    }
  });

  it('differs for each upload of the same people', async () => {
    await (await world.scripted()).agent().once();
    await (await world.scripted({ relayed: { name: `${PROVIDER}/requisitions/r2` } })).agent().once();
    const [first, second] = await Promise.all(world.duchy.uploads.map((upload) => world.opened(upload)));
    expect(first!.frequencies).toEqual(second!.frequencies);
    expect(first!.share).not.toEqual(second!.share);
    expect(first!.seed).not.toEqual(second!.seed);
  });
});

describe('an agent', () => {
  it('waits until the duchies are ready, and logs the wait once', async () => {
    const exchange = await world.scripted();
    const { duchies } = exchange.requisition;
    delete exchange.requisition.duchies;
    const agent = exchange.agent();
    for (let i = 0; i < 3; i++) expect(await agent.once()).toEqual({ handled: 0, failed: 0 });
    expect(world.types()).toEqual(['waiting']);
    exchange.requisition.duchies = duchies!;
    expect(await agent.once()).toEqual(CLOSED);
    expect(world.ledger.isCharged(exchange.requisition.name!)).toBe(true);
  });

  it('reports its capability to the exchange once', async () => {
    const exchange = await world.scripted();
    const agent = exchange.agent();
    await agent.once();
    await agent.once();
    expect(exchange.capabilities).toEqual([{ honestMajorityShareShuffleSupported: true }]);
  });

  it('charges what the duchies release for each day, before it reads events', async () => {
    const exchange = await world.scripted();
    let charged: string[] = [];
    const people: Events['people'] = (...query) => {
      charged = world.ledger.spending().map(({ day }) => day);
      return world.events.people(...query);
    };
    await exchange.agent({ events: { ...world.events, people } }).once();
    expect(charged).toEqual(DAYS);
    for (const { spent } of world.ledger.spending()) {
      expect(spent.rho).toBeGreaterThan(0);
      expect(spent.delta).toBeGreaterThan(0);
    }
  });

  it('charges at least twice as much for frequencies as for a reach, in addition to earlier charges', async () => {
    await (await world.scripted()).agent().once();
    const [reach] = world.ledger.spending();
    const second = { ...frequencySpec(5), relayed: { name: `${PROVIDER}/requisitions/r2` } };
    await (await world.scripted(second)).agent().once();
    const [both] = world.ledger.spending();
    expect(both!.spent.rho).toBeGreaterThanOrEqual(3 * reach!.spent.rho * 0.999);
  });

  it('charges a refusal that depends on the events', async () => {
    const exchange = await world.scripted();
    const people = () => Promise.reject(new QueryStopped('too long'));
    await exchange.agent({ events: { ...world.events, people } }).once();
    expect(exchange.refusals).toMatchObject([{ justification: 'UNFULFILLABLE', message: 'QUERY_STOPPED' }]);
    expect(world.ledger.spending()).toHaveLength(3);
    expect(await world.shares()).toEqual([]);
  });

  it('refuses a requisition that exceeds the budget, without reading events', async () => {
    const exchange = await world.scripted({
      spec: {
        measurementType: { case: 'reach', value: { privacyParams: { epsilon: 1000, delta: 1e-9 } } },
      },
    });
    const people = () => Promise.reject(new Error('read'));
    await exchange.agent({ events: { ...world.events, people } }).once();
    expect(exchange.refusals).toMatchObject([{ justification: 'INSUFFICIENT_PRIVACY_BUDGET' }]);
    expect(world.ledger.spending()).toEqual([]);
  });

  it('stores the order of the people of a population, and logs the progress', async () => {
    world.folder = join(world.directory, 'empty');
    const exchange = await world.scripted();
    await exchange.agent().once();
    expect((await readdir(world.folder)).filter((name) => name !== 'shares')).toHaveLength(1);
    const ordering = world.log.filter((event) => event.type === 'progress' && event.stage === 'ordering');
    expect(ordering).toMatchObject([{ percent: 0 }, { percent: 100 }]);
  });
});

describe('an agent after a crash', () => {
  it('between charge and share makes a new share without a second charge', async () => {
    const exchange = await world.scripted();
    const people = () => Promise.reject(new Error('crash'));
    expect(await exchange.agent({ events: { ...world.events, people } }).once()).toEqual(OPEN);
    const before = world.ledger.spending();
    world.reopen();
    expect(await exchange.agent().once()).toEqual(CLOSED);
    expect(world.ledger.spending()).toEqual(before);
  });

  it('between share and upload sends the stored share, without reading events again', async () => {
    const exchange = await world.scripted();
    const hangsUp: Behavior = (request) => void request.socket.destroy();
    world.duchy.next = [hangsUp, hangsUp, hangsUp];
    expect(await exchange.agent().once()).toEqual(OPEN);
    const before = world.ledger.spending();
    world.reopen();
    const people = () => Promise.reject(new Error('read again'));
    expect(await exchange.agent({ events: { ...world.events, people } }).once()).toEqual(CLOSED);
    expect((await world.opened(world.duchy.uploads[0]!)).frequencies).toEqual(ORDER.map(() => 1));
    expect(world.ledger.spending()).toEqual(before);
  });

  it('refuses a requisition whose share is lost, and does not make it again', async () => {
    const exchange = await world.scripted();
    world.duchy.next = [responds(new ExchangeError('UPLOAD_MISMATCH', 'no'))];
    await exchange.agent().once();
    await rm(join(world.folder, 'shares', 'streamly.r1.share'));
    expect(await exchange.agent().once()).toEqual(CLOSED);
    expect(exchange.refusals).toEqual([{ justification: 'UNFULFILLABLE', message: 'UPLOAD_LOST' }]);
    expect(world.duchy.uploads).toEqual([]);
  });

  it('deletes the shares that no open requisition of its provider needs', async () => {
    const exchange = await world.scripted();
    world.duchy.next = [responds(new ExchangeError('UPLOAD_MISMATCH', 'no'))];
    const agent = exchange.agent();
    await agent.once();
    await writeFile(join(world.folder, 'shares', 'streamly.r7.share.part'), 'half');
    await writeFile(join(world.folder, 'shares', 'chirper.r1.share'), 'of another provider');
    exchange.requisition.state = 'WITHDRAWN';
    await agent.once();
    expect(await world.shares()).toEqual(['chirper.r1.share']);
  });
});

it('a requisition whose specification changed gets the share that was stored for the first specification', async () => {
  const exchange = await world.scripted();
  world.duchy.next = [responds(new ExchangeError('UPLOAD_MISMATCH', 'no'))];
  await exchange.agent().once();
  const other = await world.scripted(frequencySpec(5));
  await other.agent().once();
  expect((await world.opened(world.duchy.uploads[0]!)).message.requisitionFingerprint).toEqual(
    await requisitionFingerprint(
      exchange.requisition.measurementSpec!.message,
      exchange.requisition.encryptedRequisitionSpec!.ciphertext,
    ),
  );
});
