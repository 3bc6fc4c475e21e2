/** Tests which requisitions an agent fulfills or refuses, and the charge for each outcome. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Measurement } from '@measurement-exchange/contract';
import { DAYS, eventsCsv, PEOPLE } from '@measurement-exchange/testkit/providerWorld';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AgentOptions,
  type Events,
  FilterError,
  openEvents,
  openPopulation,
  QueryFailed,
} from '../../src/provider/index.ts';
import { type AgentWorld, EXACT, startAgentWorld } from './agentWorld.ts';

let world: AgentWorld;
beforeAll(async () => {
  world = await startAgentWorld();
});
beforeEach(() => world.begin());
afterEach(() => expect(world.end()).toEqual([]));
afterAll(async () => expect(await world.stop()).toEqual([]));

describe('an agent', () => {
  it('fulfills every type of measurement with the correct figure', async () => {
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
    expect(await world.agent({ population }).once()).toEqual({ handled: 6, failed: 0 });
    const opened = await Promise.all(
      measurements.map(async ({ name }) =>
        world.consumer.open(await world.acme.client.getMeasurement({ name: name! })),
      ),
    );
    const [reach, frequency, impression, duration, people, filtered] = opened.map((r) => r.dataProviders[0]!);
    expect(reach!.reach!.value).toBe(PEOPLE);
    expect(frequency!.frequency!.map(({ share }) => share.value)).toEqual([0.01, 0.01, 0.98]);
    // The sum is 1 + … + 9 for the first nine people, plus the cap of 10 for each of the other 91.
    expect(impression!.impressions!.value).toBe(45 + 910);
    // One person watched for 2.5 s. The other 99 watched for at least 5 s, which is the cap.
    expect(duration!.watchDurationSeconds!.value).toBe(2.5 + 99 * 5);
    expect(people!.population!.value).toBe(Number(await population.count()));
    // The filter selects 19 people: persons 1 … 9 and 80 … 89, who have the ages 0 to 9.
    expect(filtered!.reach!.value).toBe(19);
    expect(world.types().filter((type) => type === 'fulfilled')).toHaveLength(6);
  });

  it('charges each day of the interval once, and nothing for a requisition with an invalid filter', async () => {
    const [good, bad] = [await world.ask(), await world.ask({ filter: 'height > 5' })];
    await world.agent().once();
    expect(await world.stateOf(good)).toBe('FULFILLED');
    expect(await world.requisitionOf(bad)).toMatchObject({
      state: 'REFUSED',
      refusal: { justification: 'SPEC_INVALID' },
    });
    expect(world.ledger.spending().map(({ reference, day }) => [reference, day])).toEqual(
      DAYS.map((day) => ['spring', day]),
    );
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('charges the same for a result and for a refusal if two event files differ in one line', async () => {
    // The first file has 80 distinct ages, which is the limit. The second file has one more, so its requisition is
    // refused.
    const lines = [eventsCsv(), `${eventsCsv()}101,${DAYS[0]} 12:00:00,spring,2.5,99\n`];
    const states = [];
    for (const [i, csv] of lines.entries()) {
      const files = join(world.directory, `line-${i}.csv`);
      await writeFile(files, csv);
      const opened = await openEvents({ files, threads: 1, maximumCombinations: 80 });
      const asked = await world.ask({ filter: "string(age).matches('1')" });
      await world.agent({ events: opened }).once();
      states.push(await world.stateOf(asked));
      expect(world.spent()).toEqual(DAYS.map(() => 0.25 * (i + 1)));
      await opened.close();
    }
    expect(states).toEqual(['FULFILLED', 'REFUSED']);
    expect(world.log.at(-1)).toMatchObject({ type: 'refused', justification: 'UNFULFILLABLE' });
  });

  it('refuses a requisition after five failures of the query engine, and charges it once', async () => {
    const failing = {
      ...world.events,
      frequencies: () => Promise.reject(new QueryFailed('Out of Memory Error')),
    };
    const asked = await world.ask();
    for (let i = 0; i < 5; i++) {
      expect(await world.agent({ events: failing }).once()).toEqual({ handled: 0, failed: 1 });
    }
    expect(await world.agent({ events: failing }).once()).toEqual({ handled: 1, failed: 0 });
    expect(await world.stateOf(asked)).toBe('REFUSED');
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
  });
});

describe('an agent that refuses a requisition', () => {
  const population = () =>
    world.consumer.create({
      type: 'population',
      dataProviders: [{ name: world.streamly.name, population: {} }],
    });
  const gaussian: Partial<AgentOptions> = { noise: 'DISCRETE_GAUSSIAN' };

  it.each<[string, () => Promise<Measurement>, Partial<AgentOptions>, string]>([
    [
      'a filter on an attribute that the events do not have',
      () => world.ask({ filter: 'height > 5' }),
      {},
      'SPEC_INVALID',
    ],
    ['Gaussian noise without a delta', () => world.ask(), gaussian, 'DECLINED'],
    ['a population without population data', population, {}, 'DECLINED'],
  ])('charges nothing for %s', async (_what, ask, options, justification) => {
    const measurement = await ask();
    await world.agent(options).once();
    const { state, failure } = await world.acme.client.getMeasurement({ name: measurement.name! });
    expect(state).toBe('FAILED');
    expect(failure!.message).toContain(justification);
    expect(world.log).toContainEqual(expect.objectContaining({ type: 'refused', justification }));
    expect(world.ledger.spending()).toEqual([]);
  });

  it('sends BUDGET_EXCEEDED, and names the reference and the date only to its operator', async () => {
    world.reopen({ epsilon: 0.5, delta: 0, rho: 0 });
    const asked = [await world.ask(), await world.ask(), await world.ask()];
    let scans = 0;
    const frequencies: Events['frequencies'] = (...query) => {
      scans++;
      return world.events.frequencies(...query);
    };
    const counted: Events = { ...world.events, frequencies };
    await world.agent({ concurrency: 1, events: counted }).once();
    // The agent must not scan the events if the budget cannot cover the result, so there are only two scans.
    expect(scans).toBe(2);
    expect(await Promise.all(asked.map(world.stateOf))).toEqual(['FULFILLED', 'FULFILLED', 'REFUSED']);
    const { refusal } = await world.requisitionOf(asked[2]!);
    expect(refusal!.justification).toBe('INSUFFICIENT_PRIVACY_BUDGET');
    expect(refusal!.message).toBe('BUDGET_EXCEEDED at events[0], day 1');
    expect(world.log.at(-1)).toMatchObject({
      message: expect.stringContaining('spring on 2026-07-01: this costs epsilon 0.25, and 0 of'),
      sent: refusal!.message,
    });
    expect(world.spent()).toEqual([0.5, 0.5, 0.5]);
  });
});

describe('an agent whose outcome may depend on the events', () => {
  /** Returns events whose first `times` scans fail with the error that `fail` returns. */
  const broken = (fail: () => Error, times: number): Events => {
    let left = times;
    return {
      ...world.events,
      frequencies: (...query) => (left-- > 0 ? Promise.reject(fail()) : world.events.frequencies(...query)),
    };
  };

  it('charges an error in the scan once for all attempts', async () => {
    const measurement = await world.ask();
    const failing = broken(() => new Error('out of memory'), 6);
    const agent = world.agent({ events: failing });
    for (let attempt = 1; attempt <= 6; attempt++) {
      expect(await agent.once()).toEqual({ handled: 0, failed: 1 });
      expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
    }
    expect(await agent.once()).toEqual({ handled: 1, failed: 0 });
    expect(await world.stateOf(measurement)).toBe('FULFILLED');
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('charges a refusal that the scan caused', async () => {
    const measurement = await world.ask();
    await world.agent({ events: broken(() => new FilterError('FILTER_LIMIT', 'too many steps'), 1) }).once();
    expect(await world.stateOf(measurement)).toBe('REFUSED');
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('charges the refusal of a requisition during which the agent was killed five times', async () => {
    const measurement = await world.ask();
    const { name } = await world.requisitionOf(measurement);
    for (let killed = 0; killed < 5; killed++) world.ledger.begin(name, []);
    await world.agent().once();
    expect(await world.requisitionOf(measurement)).toMatchObject({
      state: 'REFUSED',
      refusal: { justification: 'UNFULFILLABLE', message: 'QUERY_STOPPED' },
    });
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
  });

  it('charges a scan whose requisition was withdrawn during the scan', async () => {
    const measurement = await world.ask();
    const slow: Events = {
      ...world.events,
      frequencies: async (...query) => {
        await world.acme.client.cancelMeasurement({ name: measurement.name! });
        return world.events.frequencies(...query);
      },
    };
    await world.agent({ events: slow }).once();
    expect(world.log.at(-1)).toMatchObject({ type: 'closed', state: 'WITHDRAWN', charged: true });
    expect(world.spent()).toEqual([0.25, 0.25, 0.25]);
  });
});
