/**
 * Tests filters with attributes of people. The provider's population determines these attributes by VID. A condition
 * reduces the charge only if it uses no other attributes.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVERYBODY } from '@measurement-exchange/mpc/charges';
import { sampleBucket } from '@measurement-exchange/mpc/privacy/vidSampling';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chargesFor } from '../../src/provider/compute.ts';
import { type EventQuery, type Events, openEvents } from '../../src/provider/events.ts';
import { openLedger } from '../../src/provider/ledger.ts';
import { openPopulation, type PopulationSpec } from '../../src/provider/population.ts';
import type { VerifiedRequisition } from '../../src/provider/verify.ts';
import { type EventFiles, eventFiles } from './eventFiles.ts';

const INTERVAL = { start: new Date('2026-07-01'), end: new Date('2026-07-02') };
const WHOLE = { start: 0, width: 1 };
const AGES = ['18-24', '25-34', '35-44', '45-54', '55-64', '65+'];
const PER_GROUP = 10;
const PEOPLE = 12 * PER_GROUP;

const POPULATION: PopulationSpec = {
  subpopulations: ['F', 'M'].flatMap((sex, i) =>
    AGES.map((age, j) => {
      const start = (i * AGES.length + j) * PER_GROUP + 1;
      return { attributes: { sex, age }, vidRanges: [{ start, end: start + PER_GROUP - 1 }] };
    }),
  ),
};
const sexOf = (vid: number) => (vid <= PEOPLE / 2 ? 'F' : 'M');

let files: EventFiles;
let file: string;
let events: Events;
beforeAll(async () => {
  files = await eventFiles();
  // Give every event the attributes of a man aged 65+. The agent must ignore them, because the population determines
  // the attributes of people. People with VIDs above 120 are in no subpopulation.
  file = await files.write(
    'events.parquet',
    `SELECT vid, TIMESTAMP '2026-07-01 12:00:00' AS timestamp, 'g' AS event_group, 1 AS duration, 'M' AS sex,
       vid + 1000 AS other, 'M' AS "person.sex", {'age': '65+', 'tv': 'yes'} AS person,
       CASE WHEN vid % 2 = 0 THEN 'tv' ELSE 'phone' END AS device
     FROM range(1, ${PEOPLE + 31}) AS people(vid)`,
  );
  events = await openEvents({ files: file, threads: 1, population: openPopulation(POPULATION) });
});
afterAll(async () => {
  await events.close();
  await files.remove();
});

const queryFor = (filter?: string, vidSampling = WHOLE): EventQuery => ({
  eventGroups: [{ reference: 'g', interval: INTERVAL, ...(filter !== undefined && { filter }) }],
  vidSampling,
});

async function vidsOf(filter: string, from = events): Promise<number[]> {
  const found: number[] = [];
  await from.people(queryFor(filter), 1, (vids) => void found.push(...vids));
  return found.sort((a, b) => a - b);
}

const all = Array.from({ length: PEOPLE + 30 }, (_, i) => i + 1);
const inside = all.filter((vid) => vid <= PEOPLE);
const outside = all.filter((vid) => vid > PEOPLE);
const isOnTv = (vid: number) => vid % 2 === 0;

describe('person.<attribute>', () => {
  it.each<[string, number[]]>([
    ['person.sex == "F"', inside.filter((vid) => sexOf(vid) === 'F')],
    ['!(person.sex == "F")', inside.filter((vid) => sexOf(vid) === 'M')],
    ['person.sex == "M" && device == "tv"', inside.filter((vid) => sexOf(vid) === 'M' && isOnTv(vid))],
    [
      'person.age in ["18-24", "65+"]',
      inside.filter((vid) => [0, 5].includes(Math.floor((vid - 1) / 10) % 6)),
    ],
    ['person.sex == null', outside],
    ['!has(person.sex)', outside],
    ['person.sex == null && device == "tv"', outside.filter(isOnTv)],
    ['person.sex != null', inside],
    ['person.sex == "X"', []],
    // In each of the next three filters, a single condition uses attributes of people and of events. Such a condition
    // cannot be split.
    [
      'person.sex == "F" || device == "tv"',
      all.filter((vid) => (vid <= PEOPLE && sexOf(vid) === 'F') || isOnTv(vid)),
    ],
    ['(person.sex == null) == (device == "tv")', all.filter((vid) => vid > PEOPLE === isOnTv(vid))],
    [
      '(person.age + device).matches("^18.*tv$")',
      inside.filter((vid) => Math.floor((vid - 1) / 10) % 6 === 0 && isOnTv(vid)),
    ],
    ['person.sex == "F" && device.matches("^t")', inside.filter((vid) => sexOf(vid) === 'F' && isOnTv(vid))],
  ])('is determined by the VID in the filter %s', async (filter, expected) => {
    expect(await vidsOf(filter)).toEqual(expected);
  });

  it('never refers to a column of the events', async () => {
    expect(Object.keys(events.attributes).sort()).toEqual([
      'device',
      'other',
      'person.age',
      'person.sex',
      'sex',
    ]);
    await expect(vidsOf('person.tv == "yes"')).rejects.toMatchObject({ code: 'FILTER_ATTRIBUTE' });
    await using unpopulated = await openEvents({ files: file, threads: 1 }).then((opened) => ({
      opened,
      [Symbol.asyncDispose]: () => opened.close(),
    }));
    await expect(vidsOf('person.sex == "M"', unpopulated.opened)).rejects.toMatchObject({
      code: 'FILTER_ATTRIBUTE',
    });
  });

  it('requires a population for the model line of the counted VID column', async () => {
    const open = (modelLines?: string[]) =>
      openEvents({
        files: file,
        threads: 1,
        vidColumns: { a: 'vid', b: 'other' },
        population: openPopulation({ ...POPULATION, ...(modelLines && { modelLines }) }),
      });
    const check = async (opened: Events, modelLine: string) =>
      opened.check({ ...queryFor('person.sex == "F"'), modelLine }).finally(() => opened.close());
    expect((await check(await open(['a']), 'a')).vids[0]).toEqual([{ start: 1n, end: 60n }]);
    for (const [lines, asked] of [
      [['a'], 'b'],
      [undefined, 'a'],
      [['c'], 'a'],
    ] as const) {
      await expect(check(await open(lines && [...lines]), asked)).rejects.toMatchObject({
        code: 'FILTER_ATTRIBUTE',
      });
    }
  });
});

const REACH = { measurementType: 'REACH', reach: { privacyParams: { epsilon: 1, delta: 0 } } };
let asked = 0;
function requisition(filters: (string | undefined)[], vidSampling = WHOLE): VerifiedRequisition {
  const selected = filters.map((filter, i) => ({
    eventGroup: `dataProviders/p/eventGroups/${i}`,
    reference: 'g',
    interval: INTERVAL,
    ...(filter !== undefined && { filter }),
  }));
  return {
    name: `dataProviders/p/requisitions/r${asked++}`,
    measurement: 'measurementConsumers/m/measurements/1',
    spec: REACH,
    selection: { events: selected },
    vidSampling,
  } as unknown as VerifiedRequisition;
}

async function chargesOf(verified: VerifiedRequisition, from = events) {
  const eventGroups = verified.selection.events!;
  const people = await from.check({ eventGroups, vidSampling: verified.vidSampling });
  return chargesFor(verified, {}, people);
}
const sliceOf = async (filters: (string | undefined)[], vidSampling = WHOLE) =>
  (await chargesOf(requisition(filters, vidSampling)))[0]!.slice!;

async function spentAfter(verified: VerifiedRequisition[], from = events): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'mex-slices-'));
  const ledger = openLedger(join(folder, 'ledger'), { epsilon: 1000, delta: 0, rho: 0 });
  try {
    for (const each of verified) ledger.begin(each.name, await chargesOf(each, from));
    expect(ledger.audit()).toEqual([]);
    return ledger.spending()[0]!.spent.epsilon;
  } finally {
    ledger.close();
    rmSync(folder, { recursive: true });
  }
}

const groups = ['F', 'M'].flatMap((sex) =>
  AGES.map((age) => `device == "tv" && person.sex == "${sex}" && person.age == "${age}"`),
);

describe('the ledger', () => {
  it('charges a breakdown into 6 × 2 groups as much as one group', async () => {
    expect(await spentAfter(groups.map((filter) => requisition([filter])))).toBe(1);
    expect(await spentAfter([...groups, undefined].map((filter) => requisition([filter])))).toBe(2);
    expect(
      await spentAfter(['person.sex == "F"', groups[0], groups[6]].map((each) => requisition([each]))),
    ).toBe(2);
  });

  it.each([
    'sex == "F"',
    'person.sex == "F" || device == "tv"',
    'person.sex == "F" || device == device',
    '!(person.sex == "M" && device == device)',
    '(device == "tv") ? person.sex == "F" : person.sex == "F"',
    '[person.sex, device].exists(x, x == "F")',
    '["F"].exists(person, person == "F")',
    '[{"sex": "F"}].exists(person, person.sex == "F")',
    '"person.sex" == "person.sex"',
    'true',
    // These filters select no one. They are charged for everybody. If they were free, a consumer could ask them without
    // limit.
    'person.sex == "X"',
    'person.sex == "F" && person.sex == "M"',
    'false',
  ])('charges everybody for %s', async (filter) => {
    expect(await sliceOf([filter])).toBe(EVERYBODY);
    expect(await spentAfter([requisition([filter]), requisition(['person.sex == "M"'])])).toBe(2);
  });

  it('charges all people of a requisition if its event groups select different people', async () => {
    const women = await sliceOf(['person.sex == "F"']);
    expect(await sliceOf(['person.sex == "F"', 'person.sex == "F" && device == "tv"'])).toBe(women);
    expect(await sliceOf(['person.sex == "F"', undefined])).toBe(EVERYBODY);
    const both = requisition(['person.sex == "F"', 'person.sex == "M"']);
    expect(await spentAfter([both, requisition(['person.sex == "M"'])])).toBe(2);
    expect(await spentAfter([both, requisition(['person.sex == null'])])).toBe(1);
  });

  it('charges disjoint VID samples once, and overlapping ones twice', async () => {
    const spent = (...samples: [start: number, width: number][]) =>
      spentAfter(samples.map(([start, width]) => requisition([undefined], { start, width })));
    expect(await spent([0, 0.5], [0.5, 0.5])).toBe(1);
    expect(await spent([0, 0.5], [0.5, 0.25], [0.75, 0.25])).toBe(1);
    expect(await spent([0.75, 0.5], [0.25, 0.5])).toBe(1);
    expect(await spent([0.75, 0.5], [0.2, 0.5])).toBe(2);
    expect(await spent([0, 1], [0.5, 0.5])).toBe(2);
    expect(await spent([0.5, 1], [0, 1])).toBe(2);
    // Bounds are rounded to 32-bit floats. After this rounding, the first sample of the first check ends exactly where
    // the second sample begins. The samples of the second check overlap.
    expect(await spent([0, 0.1], [0.1 - 1e-9, 0.1])).toBe(1);
    expect(await spent([0, 0.1 + 2e-7], [0.1, 0.1])).toBe(2);
    // This filter is evaluated in CEL, also for people outside of the sample. Both requisitions are therefore charged
    // for everybody.
    const evaluated = (start: number) => requisition(['device.matches("^t")'], { start, width: 0.5 });
    expect(await spentAfter([evaluated(0), evaluated(0.5)])).toBe(2);
  });

  it('adds the charges of two populations, even if their ranges are disjoint', async () => {
    const edited: PopulationSpec = {
      subpopulations: [
        { attributes: { sex: 'F' }, vidRanges: [{ start: 1001, end: 1010 }] },
        { attributes: { sex: 'M' }, vidRanges: [{ start: 1, end: 60 }] },
      ],
    };
    const later = await openEvents({ files: file, threads: 1, population: openPopulation(edited) });
    const folder = mkdtempSync(join(tmpdir(), 'mex-slices-'));
    const ledger = openLedger(join(folder, 'ledger'), { epsilon: 1000, delta: 0, rho: 0 });
    for (const [filter, from] of [
      ['person.sex == "F"', events],
      ['person.sex == "F"', later],
    ] as const) {
      const verified = requisition([filter]);
      ledger.begin(verified.name, await chargesOf(verified, from));
    }
    expect(ledger.spending()[0]!.spent.epsilon).toBe(2);
    ledger.close();
    rmSync(folder, { recursive: true });
    await later.close();
  });
});

describe('a data set without one person', () => {
  it('changes only results whose slices contain the person', async () => {
    const samples = [WHOLE, { start: 0, width: 0.5 }, { start: 0.5, width: 0.5 }];
    const filters = [
      undefined,
      'person.sex == "F"',
      'person.sex == null',
      'person.sex == "M" || device == "tv"',
      ...groups,
    ];
    const removed = [1, 15, 77, PEOPLE + 3];
    for (const [n, vid] of removed.entries()) {
      const rest = await files.write(`without${n}.parquet`, `SELECT * FROM '${file}' WHERE vid <> ${vid}`);
      const without = await openEvents({ files: rest, threads: 1, population: openPopulation(POPULATION) });
      let changes = 0;
      for (const filter of filters) {
        for (const vidSampling of samples) {
          const [before] = await events.frequencies(queryFor(filter, vidSampling), 1);
          const [after] = await without.frequencies(queryFor(filter, vidSampling), 1);
          const slice = JSON.parse(await sliceOf([filter], vidSampling)) as Record<
            string,
            [string, string][]
          >;
          const isCharged = Object.entries(slice).every(([axis, intervals]) => {
            const at = axis.startsWith('vid ') ? vid : sampleBucket(BigInt(vid));
            return intervals.some(([start, end]) => at >= Number(start) && at <= Number(end));
          });
          if (before !== after) {
            changes++;
            expect(isCharged, `${filter} ${JSON.stringify(vidSampling)} without ${vid}`).toBe(true);
          }
        }
      }
      expect(changes).toBeGreaterThan(0);
      await without.close();
    }
  });
});
