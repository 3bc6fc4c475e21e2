import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Measurement } from '@measurement-exchange/contract';
import {
  DAYS,
  eventsCsv,
  PEOPLE,
  type ProviderWorld,
  startProviderWorld,
} from '@measurement-exchange/testkit/providerWorld';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AgentEvent,
  type AgentOptions,
  createAgent,
  type Events,
  FilterError,
  type Ledger,
  openEvents,
  openLedger,
  openPopulation,
  QueryFailed,
} from '../../src/provider/index.ts';

let world: ProviderWorld;
let events: Events;
beforeAll(async () => {
  world = await startProviderWorld();
  events = await openEvents({ files: world.events, threads: 1 });
});
afterAll(async () => {
  await events.close();
  expect(await world.stop()).toEqual([]);
});

let ledger: Ledger;
let ledgerPath: string;
let log: AgentEvent[];
let runs = 0;
beforeEach(() => {
  ledgerPath = join(world.directory, `ledger-${++runs}.sqlite`);
  ledger = openLedger(ledgerPath, { epsilon: 1e6, delta: 1, rho: 1e3 });
  log = [];
});
afterEach(() => {
  expect(ledger.audit()).toEqual([]);
  ledger.close();
});

/** Time that passes 20 times as fast, so that patience costs little. */
const BEGAN = Date.now();
const clock: AgentOptions['clock'] = {
  now: () => BEGAN + (Date.now() - BEGAN) * 20,
  sleep: (ms, signal) => sleep(ms / 20, undefined, signal && { signal }),
};

/** So large that there is no noise to speak of. */
const EXACT = { epsilon: 1e5, delta: 0 };
const agentOf = (changes: Partial<AgentOptions> = {}) =>
  createAgent({
    client: world.client(),
    credentials: world.streamly,
    trust: world.trust,
    events,
    ledger,
    references: { spring: { measurementConsumers: [world.acme.name] } },
    pollMs: 400,
    clock,
    log: (event) => log.push(event),
    ...changes,
  });
const types = () => log.map(({ type }) => type).filter((type) => type !== 'progress');
const spent = () => ledger.spending().map(({ spent }) => spent.epsilon);
const stateOf = async (measurement: Measurement) => (await world.requisitionOf(measurement)).state;

/** The agent at work until the measurement has ended. */
async function runUntilClosed(
  agent: ReturnType<typeof agentOf>,
  measurement: Measurement,
): Promise<Measurement> {
  const stop = new AbortController();
  const running = agent.run(stop.signal);
  try {
    for (;;) {
      const now = await world.acme.client.getMeasurement({ name: measurement.name! });
      if (now.state !== 'AWAITING_REQUISITION_FULFILLMENT') return now;
      await sleep(20);
    }
  } finally {
    stop.abort();
    await running;
  }
}

describe('an agent fulfils', () => {
  it('every type of measurement, and the consumer opens what was computed', async () => {
    const population = openPopulation({
      subpopulations: [{ vidRanges: [{ start: 1, end: 40 }], attributes: {} }],
    });
    const measurements = [
      await world.ask({ privacy: EXACT }),
      await world.ask({ type: 'reachAndFrequency', privacy: EXACT, maximumFrequency: 3 }),
      await world.ask({ type: 'impression', privacy: EXACT, maximumFrequencyPerUser: 10 }),
      await world.ask({ type: 'duration', privacy: EXACT, maximumWatchDurationSeconds: 5 }),
      await world.consumer.create({
        type: 'population',
        dataProviders: [{ name: world.streamly.name, population: {} }],
      }),
      await world.ask({ privacy: EXACT, filter: 'age < 10' }),
    ];
    expect(await agentOf({ population }).once()).toEqual({ handled: 6, failed: 0 });
    const opened = await Promise.all(
      measurements.map(async ({ name }) =>
        world.consumer.open(await world.acme.client.getMeasurement({ name: name! })),
      ),
    );
    const [reach, frequency, impression, duration, people, filtered] = opened.map((r) => r.dataProviders[0]!);
    expect(reach!.reach!.value).toBe(PEOPLE);
    expect(frequency!.frequency!.map(({ share }) => share.value)).toEqual([0.01, 0.01, 0.98]);
    // 1 + … + 9, then 91 people at the cap of 10.
    expect(impression!.impressions!.value).toBe(45 + 910);
    // 2.5 s of one person, 5 s of each of the others.
    expect(duration!.watchDurationSeconds!.value).toBe(2.5 + 99 * 5);
    expect(people!.population!.value).toBe(Number(await population.count()));
    // Ages 0 to 9 are those of 1 … 9 and 80 … 89.
    expect(filtered!.reach!.value).toBe(19);
    expect(types().filter((type) => type === 'fulfilled')).toHaveLength(6);
  });

  it('charges each day of the interval once, and nothing for what it refuses', async () => {
    const [good, bad] = [await world.ask(), await world.ask({ filter: 'age <' })];
    await agentOf().once();
    expect(await stateOf(good)).toBe('FULFILLED');
    expect(await world.requisitionOf(bad)).toMatchObject({
      state: 'REFUSED',
      refusal: { justification: 'SPEC_INVALID' },
    });
    expect(ledger.spending().map(({ reference, day }) => [reference, day])).toEqual(
      DAYS.map((day) => ['spring', day]),
    );
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('charges every outcome that depends on the events: two files that differ in one line', async () => {
    // 80 ages, and one more in the second file.
    const lines = [eventsCsv(), `${eventsCsv()}101,${DAYS[0]} 12:00:00,spring,2.5,99\n`];
    const states = [];
    for (const [i, csv] of lines.entries()) {
      const files = join(world.directory, `line-${i}.csv`);
      await writeFile(files, csv);
      const opened = await openEvents({ files, threads: 1, maximumCombinations: 80 });
      const asked = await world.ask({ filter: "string(age).matches('1')" });
      await agentOf({ events: opened }).once();
      states.push(await stateOf(asked));
      expect(spent()).toEqual(DAYS.map(() => 0.25 * (i + 1)));
      await opened.close();
    }
    expect(states).toEqual(['FULFILLED', 'REFUSED']);
    expect(log.at(-1)).toMatchObject({ type: 'refused', justification: 'UNFULFILLABLE' });
  });

  it('refuses a query on which the engine fails again and again, charged once', async () => {
    const failing = {
      ...events,
      frequencies: () => Promise.reject(new QueryFailed('Out of Memory Error')),
    };
    const asked = await world.ask();
    for (let i = 0; i < 5; i++) {
      expect(await agentOf({ events: failing }).once()).toEqual({ handled: 0, failed: 1 });
    }
    expect(await agentOf({ events: failing }).once()).toEqual({ handled: 1, failed: 0 });
    expect(await stateOf(asked)).toBe('REFUSED');
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });
});

describe('an agent refuses', () => {
  const population = () =>
    world.consumer.create({
      type: 'population',
      dataProviders: [{ name: world.streamly.name, population: {} }],
    });
  const gaussian: Partial<AgentOptions> = { noise: 'DISCRETE_GAUSSIAN' };

  it.each<[string, () => Promise<Measurement>, Partial<AgentOptions>, string]>([
    [
      'a filter on what the events do not have',
      () => world.ask({ filter: 'height > 5' }),
      {},
      'SPEC_INVALID',
    ],
    ['Gaussian noise asked for without a delta', () => world.ask(), gaussian, 'DECLINED'],
    ['a population it has no figures of', population, {}, 'DECLINED'],
  ])('%s', async (_what, ask, options, justification) => {
    const measurement = await ask();
    await agentOf(options).once();
    const { state, failure } = await world.acme.client.getMeasurement({ name: measurement.name! });
    expect(state).toBe('FAILED');
    expect(failure!.message).toContain(justification);
    expect(log).toContainEqual(expect.objectContaining({ type: 'refused', justification }));
    expect(ledger.spending()).toEqual([]);
  });

  it('what the budget does not cover, and names the day to its operator only', async () => {
    ledger.close();
    ledger = openLedger(ledgerPath, { epsilon: 0.5, delta: 0, rho: 0 });
    const asked = [await world.ask(), await world.ask(), await world.ask()];
    let scans = 0;
    const frequencies: Events['frequencies'] = (...query) => {
      scans++;
      return events.frequencies(...query);
    };
    const counted: Events = { ...events, frequencies };
    await agentOf({ concurrency: 1, events: counted }).once();
    // What cannot be paid is not even computed.
    expect(scans).toBe(2);
    expect(await Promise.all(asked.map(stateOf))).toEqual(['FULFILLED', 'FULFILLED', 'REFUSED']);
    const { refusal } = await world.requisitionOf(asked[2]!);
    expect(refusal!.justification).toBe('INSUFFICIENT_PRIVACY_BUDGET');
    expect(refusal!.message).toBe('BUDGET_EXCEEDED at events[0], day 1');
    expect(log.at(-1)).toMatchObject({
      message: expect.stringContaining('spring on 2026-07-01: this costs epsilon 0.25, and 0 of'),
      sent: refusal!.message,
    });
    expect(spent()).toEqual([0.5, 0.5, 0.5]);
  });
});

describe('what may depend on the events is charged like a result:', () => {
  /** Events whose scans fail as `fail` says, so many times. */
  const broken = (fail: () => Error, times: number): Events => {
    let left = times;
    return {
      ...events,
      frequencies: (...query) => (left-- > 0 ? Promise.reject(fail()) : events.frequencies(...query)),
    };
  };

  it('an error in the scan, once for all attempts', async () => {
    const measurement = await world.ask();
    const failing = broken(() => new Error('out of memory'), 6);
    const agent = agentOf({ events: failing });
    for (let attempt = 1; attempt <= 6; attempt++) {
      expect(await agent.once()).toEqual({ handled: 0, failed: 1 });
      expect(spent()).toEqual([0.25, 0.25, 0.25]);
    }
    expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
    expect(await stateOf(measurement)).toBe('FULFILLED');
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('a refusal that the scan led to', async () => {
    const measurement = await world.ask();
    await agentOf({ events: broken(() => new FilterError('FILTER_LIMIT', 'too many steps'), 1) }).once();
    expect(await stateOf(measurement)).toBe('REFUSED');
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('the refusal of a requisition during which the agent was killed five times', async () => {
    const measurement = await world.ask();
    const { name } = await world.requisitionOf(measurement);
    for (let killed = 0; killed < 5; killed++) ledger.begin(name, []);
    await agentOf().once();
    expect(await world.requisitionOf(measurement)).toMatchObject({
      state: 'REFUSED',
      refusal: { justification: 'UNFULFILLABLE', message: 'QUERY_STOPPED' },
    });
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('a scan whose requisition was withdrawn meanwhile: the charge would tell how long it took', async () => {
    const measurement = await world.ask();
    const slow: Events = {
      ...events,
      frequencies: async (...query) => {
        await world.acme.client.cancelMeasurement({ name: measurement.name! });
        return events.frequencies(...query);
      },
    };
    await agentOf({ events: slow }).once();
    expect(log.at(-1)).toMatchObject({ type: 'closed', state: 'WITHDRAWN', charged: true });
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });
});

describe('an agent tries again, and refuses nothing,', () => {
  const failing = (part: string, times: number, how: typeof fetch): typeof fetch => {
    let left = times;
    return (input, init) =>
      String(input).includes(part) && left-- > 0 ? how(input, init) : fetch(input, init);
  };
  const noAnswer = () => Promise.reject(new TypeError('fetch failed'));
  const replies = (status: number) => async () => new Response('nginx', { status });

  it.each<[string, string, () => Promise<Response>]>([
    ['while certificates are out of reach', '/certificates/', noAnswer],
    ['while certificates are answered with 503', '/certificates/', replies(503)],
    ['while a proxy answers 404 for everything', '/certificates/', replies(404)],
    ['while event groups are out of reach', '/eventGroups/', noAnswer],
    ['while fulfilments are out of reach', ':fulfillDirect', noAnswer],
  ])('%s', async (_what, part, how) => {
    const measurement = await world.ask();
    const client = world.client({ fetch: failing(part, 2, how), maxAttempts: 1 });
    const { state } = await runUntilClosed(agentOf({ client }), measurement);
    expect(state).toBe('SUCCEEDED');
    expect(types()).toContain('retrying');
    expect(types()).not.toContain('refused');
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('while the events are not there, and takes them when they appear', async () => {
    const files = join(world.directory, 'late.csv');
    let opened: Promise<Events> | undefined;
    const open = () => {
      opened ??= openEvents({ files, threads: 1 }).catch((error) => {
        opened = undefined;
        throw error;
      });
      return opened;
    };
    const measurement = await world.ask({ privacy: EXACT });
    const done = runUntilClosed(agentOf({ events: open }), measurement);
    while (!types().includes('retrying')) await sleep(10);
    expect(log.find(({ type }) => type === 'retrying')).toMatchObject({
      why: expect.stringContaining('late.csv'),
    });
    await writeFile(files, eventsCsv());
    const result = await world.consumer.open(await done);
    expect(result.dataProviders[0]!.reach!.value).toBe(PEOPLE);
    await (await opened)!.close();
  });

  it('while events that were there are gone', async () => {
    const files = join(world.directory, 'gone.csv');
    await writeFile(files, eventsCsv());
    const late = await openEvents({ files, threads: 1 });
    await rm(files);
    const measurement = await world.ask();
    const done = runUntilClosed(agentOf({ events: late }), measurement);
    while (!types().includes('retrying')) await sleep(10);
    await writeFile(files, eventsCsv());
    expect((await done).state).toBe('SUCCEEDED');
    await late.close();
  });

  it('while the exchange does not answer at all, of which it tells once, and once that it is back', async () => {
    const measurement = await world.ask();
    const client = world.client({ fetch: failing('/requisitions?', 3, noAnswer), maxAttempts: 1 });
    await runUntilClosed(agentOf({ client }), measurement);
    expect(types().filter((type) => type === 'unreachable' || type === 'reachable')).toEqual([
      'unreachable',
      'reachable',
    ]);
  });
});

describe('what happens at the exchange meanwhile', () => {
  /** A client whose calls to `part` are preceded by something else. */
  const before = (part: string, happens: () => Promise<unknown>) => {
    let first = true;
    const wrapped: typeof fetch = async (input, init) => {
      if (first && String(input).includes(part)) {
        first = false;
        await happens();
      }
      return fetch(input, init);
    };
    return world.client({ fetch: wrapped });
  };
  const cancel = (measurement: Measurement) => () =>
    world.acme.client.cancelMeasurement({ name: measurement.name! });

  it('a cancellation before the events are read costs nothing', async () => {
    const measurement = await world.ask();
    const client = before('/certificates/', cancel(measurement));
    expect(await agentOf({ client }).once()).toEqual({ handled: 1, failed: 0 });
    expect(log.at(-1)).toMatchObject({ type: 'closed', state: 'WITHDRAWN', charged: false });
    expect(ledger.spending()).toEqual([]);
  });

  it('a cancellation before the response is sent leaves the charge', async () => {
    const measurement = await world.ask();
    const client = before(':fulfillDirect', cancel(measurement));
    await agentOf({ client }).once();
    expect(log.at(-1)).toMatchObject({ type: 'closed', state: 'WITHDRAWN', charged: true });
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('a fulfilment whose answer was lost is found done', async () => {
    const measurement = await world.ask();
    let lost = false;
    const losing: typeof fetch = async (input, init) => {
      const response = await fetch(input, init);
      if (lost || !String(input).includes(':fulfillDirect')) return response;
      lost = true;
      throw new TypeError('fetch failed');
    };
    expect(await agentOf({ client: world.client({ fetch: losing }) }).once()).toEqual({
      handled: 1,
      failed: 0,
    });
    expect(lost).toBe(true);
    expect(log.at(-1)!.type).toBe('fulfilled');
    expect(await stateOf(measurement)).toBe('FULFILLED');
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('a result is charged before it is sent, and sent again as it was when it did not arrive', async () => {
    await world.ask();
    const sent: string[] = [];
    const failingOnce: typeof fetch = (input, init) => {
      if (!String(input).includes(':fulfillDirect')) return fetch(input, init);
      sent.push(JSON.stringify(JSON.parse(String(init!.body)).encryptedResult));
      return sent.length === 1 ? Promise.reject(new TypeError('fetch failed')) : fetch(input, init);
    };
    const agent = agentOf({ client: world.client({ fetch: failingOnce, maxAttempts: 1 }) });
    expect(await agent.once()).toEqual({ handled: 0, failed: 1 });
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
    expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
    expect(sent).toEqual([sent[0], sent[0]]);
    expect(spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('a requisition under way is not taken up a second time, and a stop waits for nothing long', async () => {
    const measurement = await world.ask();
    const stop = new AbortController();
    const slow: typeof fetch = async (input, init) => {
      if (String(input).includes('/certificates/')) await sleep(300, undefined, { signal: init!.signal! });
      return fetch(input, init);
    };
    const running = agentOf({ client: world.client({ fetch: slow }), concurrency: 5 }).run(stop.signal);
    await sleep(150);
    expect(types()).toEqual(['received']);
    stop.abort();
    await running;
    expect(await stateOf(measurement)).toBe('UNFULFILLED');
    await agentOf().once();
  });

  it('more requisitions than a page holds are all answered, so many at once and no more', async () => {
    const asked = await Promise.all(Array.from({ length: 55 }, () => world.ask()));
    let [now, most] = [0, 0];
    const log = ({ type }: AgentEvent) => {
      if (type === 'received') most = Math.max(most, ++now);
      if (type === 'fulfilled') now--;
    };
    expect(await agentOf({ log, concurrency: 4 }).once()).toEqual({ handled: 55, failed: 0 });
    expect(most).toBe(4);
    expect(new Set(await Promise.all(asked.map(stateOf)))).toEqual(new Set(['FULFILLED']));
    expect(spent()).toEqual([13.75, 13.75, 13.75]);
  });
});
