import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Subpopulation } from '@measurement-exchange/contract';
import { addUnits, costInUnits, largerUnits, type Units } from '@measurement-exchange/mpc/charges';
import {
  type Charge,
  chargesFor,
  type Events,
  openEvents,
  openLedger,
  openPopulation,
  type VerifiedRequisition,
} from '@measurement-exchange/sdk/provider';
import { isStress, rounds } from '@measurement-exchange/testkit/rounds';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type FigureRequest, type Group, type Plan, planReport, rehearse, specOf } from '../src/index.ts';
import { definitionOf, NAMES, type ProtocolName, seeded, surroundingsOf } from './worlds.ts';

const AGES = ['18-24', '25-34', '35-44', '45-54', '55-64', '65+'];
/** A population of two sexes and six age groups, with 100 people in each of the twelve groups. */
const SUBPOPULATIONS: Subpopulation[] = ['F', 'M'].flatMap((sex, i) =>
  AGES.map((age, j) => ({
    attributes: [
      { name: 'sex', value: sex },
      { name: 'age', value: age },
    ],
    vidRanges: [{ start: (6 * i + j) * 100 + 1, end: (6 * i + j + 1) * 100 }],
  })),
);
/** One VID of each group, and one that is in no group. */
const VIDS = [...SUBPOPULATIONS.map(({ vidRanges }) => vidRanges[0]!.start), 5000];

/** The folder of the agent's event file. The file needs no real rows, because the tests count no events. */
let folder: string;
let events: Events;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'mex-reports-'));
  const file = join(folder, 'events.csv');
  await writeFile(file, 'vid,timestamp,event_group,duration,device\n1,2026-07-06T00:00:00Z,g,1,tv\n');
  const population = openPopulation({ subpopulations: SUBPOPULATIONS });
  events = await openEvents({ files: file, threads: 1, population });
});
afterAll(async () => {
  await events.close();
  await rm(folder, { recursive: true });
});

function filterOf(group: Group): string | undefined {
  const conditions = Object.entries(group).map(([name, value]) => `person.${name} == "${value}"`);
  return conditions.length === 0 ? undefined : [...conditions, 'device == "tv"'].join(' && ');
}

/** Returns the charges that the agent of a data provider would make for a requisition. */
async function agentCharges(verified: VerifiedRequisition): Promise<Charge[]> {
  const query = { eventGroups: verified.selection.events!, vidSampling: { start: 0, width: 1 } };
  return chargesFor(verified, {}, await events.check(query));
}

/**
 * Adds up each person's charges per `id`, which stands for a provider, a reference, and a day. Returns, for each ID,
 * the largest sum of any person.
 */
function countPlainly(charges: readonly { id: string; charge: Charge }[]): Map<string, Units> {
  const worst = new Map<string, Units>();
  for (const vid of VIDS) {
    const sums = new Map<string, Units>();
    for (const { id, charge } of charges) {
      const ranges = Object.values(JSON.parse(charge.slice!) as Record<string, [string, string][]>).flat();
      const isIn = ranges.length === 0 || ranges.some(([start, end]) => vid >= +start && vid <= +end);
      if (isIn) sums.set(id, addUnits(sums.get(id) ?? costInUnits({}), charge.cost));
    }
    for (const [id, sum] of sums) worst.set(id, largerUnits(worst.get(id) ?? costInUnits({}), sum));
  }
  return worst;
}

/** Returns the requisitions that the data providers' agents would verify: one for each need and data provider. */
function requisitionsOf(plan: Plan): { provider: string; verified: VerifiedRequisition }[] {
  return plan.needs.flatMap(({ key, need, dataProviders, computed, params }) =>
    dataProviders.map((provider) => {
      const interval = { start: new Date(need.period.start), end: new Date(need.period.end) };
      const filter = filterOf(need.group);
      const events = need.cells
        .filter(({ eventGroup }) => eventGroup.startsWith(`${provider}/`))
        .map(({ eventGroup }) => ({
          ...{ eventGroup, reference: eventGroup, interval },
          ...(filter !== undefined && { filter }),
        }));
      const isShuffle = computed?.protocol === 'honestMajorityShareShuffle';
      const verified = {
        name: `${provider}/requisitions/${key}`,
        measurement: `measurementConsumers/m/measurements/${key}`,
        spec: { ...specOf(need, params), nonceHashes: dataProviders },
        selection: { events },
        vidSampling: { start: 0, width: 1 },
        ...(isShuffle && {
          shareShuffle: {
            config: { ...computed.config, populationFingerprint: new Uint8Array(32) },
            vidRanges: [{ start: 1, end: 1200 }],
          },
        }),
        ...(computed && !isShuffle && { liquidLegions: computed }),
      } as unknown as VerifiedRequisition;
      return { provider, verified };
    }),
  );
}

const METRICS: FigureRequest[] = [
  { metric: 'reach', of: ['all'] },
  { metric: 'reach', of: ['common'], periods: 'weekly(MONDAY)', cumulative: true },
  { metric: 'frequency', of: ['all'], maximumFrequency: 4 },
  { metric: 'impressions', of: ['all'], maximumPerPerson: 7 },
  { metric: 'watchDuration', of: ['a'], maximumPerPerson: 300 },
  { metric: 'reach', of: ['a'], precision: '2 %' },
  { metric: 'reach', of: ['all'], groups: 'sexes' },
  { metric: 'frequency', of: ['all'], maximumFrequency: 3, groups: 'both' },
  { metric: 'impressions', of: ['a'], groups: 'ages' },
];

async function randomPlan(seed: number) {
  const random = seeded(seed);
  const segments = 2 + Math.floor(random.next() * 2);
  const names = NAMES.slice(0, segments);
  const protocol = (['honestMajorityShareShuffle', 'liquidLegionsV2'] as ProtocolName[])[seed % 2]!;
  const figures = METRICS.filter(() => random.next() < 0.5);
  const surroundings = surroundingsOf(protocol, { population: 1_000_000, subpopulations: SUBPOPULATIONS });
  const definition = definitionOf(segments, {
    interval: { start: '2026-07-06', end: '2026-07-20', timeZone: ['UTC', 'Europe/Berlin'][seed % 2]! },
    sets: { all: names.join(' | '), common: names.join(' & ') },
    groups: { sexes: { by: ['sex'] }, ages: { by: ['age'] }, both: { by: ['age', 'sex'] } },
    figures: figures.length > 0 ? figures : METRICS.slice(0, 1),
    budget:
      random.next() < 0.5
        ? { rho: 1 + random.next(), delta: 1e-9 }
        : { epsilon: 3 * random.next() + 1, delta: 1e-9 },
  });
  return { plan: await planReport(definition, surroundings), surroundings };
}

describe('charges', () => {
  test(`of a rehearsal equal the charges of agents exactly in ${rounds(1000, 8)} random plans`, async () => {
    for (let seed = 0; seed < rounds(1000, 8); seed++) {
      const { plan, surroundings } = await randomPlan(seed);
      const charges: { id: string; charge: Charge }[] = [];
      for (const { provider, verified } of requisitionsOf(plan)) {
        for (const charge of await agentCharges(verified)) {
          charges.push({ id: `${provider} ${charge.reference} ${charge.day}`, charge });
        }
      }
      const rehearsed = rehearse(plan, surroundings).charges;
      expect(new Map(rehearsed.map(({ id, units }) => [id, units]))).toEqual(countPlainly(charges));
    }
    if (isStress) console.log(`R6 rehearsed = charged in ${rounds(1000)} plans`);
  });

  test('the spending in a ledger equals the rehearsed charges', async () => {
    const { plan, surroundings } = await randomPlan(3);
    const { charges } = rehearse(plan, surroundings);
    expect(plan.needs.some(({ need: { group } }) => Object.keys(group).length > 0)).toBe(true);
    for (const [provider, own] of Map.groupBy(requisitionsOf(plan), (one) => one.provider)) {
      const ledger = openLedger(join(folder, provider.replace('/', '-')), {
        epsilon: 1000,
        delta: 1e-3,
        rho: 1000,
      });
      for (const { verified } of own) {
        ledger.begin(verified.name, await agentCharges(verified), verified.measurement);
      }
      const spent = ledger
        .spending()
        .map(({ reference, day, spent }) => [`${reference} ${day}`, spent] as const);
      ledger.close();
      const rehearsed = charges.filter(({ dataProvider }) => dataProvider === provider);
      expect(new Map(spent)).toEqual(
        new Map(rehearsed.map(({ reference, day, amount }) => [`${reference} ${day}`, amount])),
      );
    }
  });

  test('twelve disjoint groups cost as much as no groups, and possibly overlapping groups split the budget', async () => {
    const planOf = async (by: string[]) => {
      const definition = definitionOf(1, {
        groups: { some: { by } },
        figures: [{ metric: 'reach', of: ['a'], ...(by.length > 0 && { groups: 'some' }) }],
        budget: { epsilon: 1, delta: 0 },
      });
      const surroundings = surroundingsOf('honestMajorityShareShuffle', { subpopulations: SUBPOPULATIONS });
      const plan = await planReport(definition, surroundings);
      return { plan, charges: rehearse(plan, surroundings).charges };
    };
    const [groups, one] = [await planOf(['age', 'sex']), await planOf([])];
    expect(groups.plan.needs).toHaveLength(12);
    expect(groups.charges).toEqual(one.charges);
    for (const { params } of groups.plan.needs) expect(params.epsilon).toBe(1);
    // Without subpopulations, the planner assumes that groups overlap: one person could be in all of them.
    const definition = definitionOf(1, {
      groups: { some: { by: ['sex'] } },
      figures: [{ metric: 'reach', of: ['a'], groups: 'some' }],
      budget: { epsilon: 1, delta: 0 },
    });
    const plan = await planReport(
      definition,
      surroundingsOf('honestMajorityShareShuffle', { attributes: { sex: ['F', 'M'] } }),
    );
    for (const { params } of plan.needs) expect(params.epsilon).toBe(0.5);
  });

  test('every charge is at most the stated budget, and almost all of it', async () => {
    const definition = definitionOf(2, {
      sets: { both: 'a & b' },
      figures: [{ metric: 'reach', of: ['both'] }],
      budget: { rho: 0.3, delta: 1e-9 },
    });
    const surroundings = surroundingsOf('honestMajorityShareShuffle');
    const { charges, advice } = rehearse(await planReport(definition, surroundings), surroundings);
    expect(advice).toEqual([]);
    for (const { amount } of charges) {
      expect(amount.rho).toBeLessThanOrEqual(0.3);
      expect(amount.rho).toBeGreaterThan(0.29);
    }
  });
});
