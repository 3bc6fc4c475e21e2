/**
 * Tests that the charge for a result bounds how well the result distinguishes two neighboring data sets. Neighbors
 * differ in one unit of privacy: the events of one person in one reference on one UTC day.
 */
import type { specs } from '@measurement-exchange/contract';
import { fromUnits } from '@measurement-exchange/mpc/charges';
import { seededRandom } from '@measurement-exchange/testkit/mpc/seededRandom';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { chargesFor, computeResult } from '../../src/provider/compute.ts';
import { type EventQuery, type Events, openEvents } from '../../src/provider/events.ts';
import type { VerifiedRequisition } from '../../src/provider/verify.ts';
import { type EventFiles, eventFiles } from './eventFiles.ts';
import { privacyBounds } from './privacyBounds.ts';

const DAYS = ['2026-07-01', '2026-07-02', '2026-07-03'];
const INTERVAL = { start: new Date('2026-07-01'), end: new Date('2026-07-04') };
const EVERYBODY = { start: 0, width: 1 };

interface Event {
  vid: number;
  day: number;
  color: string;
  millis: number;
}
const times = (count: number, event: Event): Event[] => Array.from({ length: count }, () => event);
/** An event of the person whose events differ between neighbors. All of this person's events are on the first day. */
const person: Event = { vid: 7, day: 0, color: 'red', millis: 900 };
const others = (from: number, people: number, events: number) =>
  Array.from({ length: people }, (_, i) => times(events, { ...person, vid: from + i })).flat();

/** Each pair of neighbors is stored as two references in one file: `<name> before` and `<name> after`. */
const NEIGHBORS: Record<string, [before: Event[], after: Event[]]> = {
  appears: [[], times(9, person)],
  'moves between bins': [times(1, person), times(2, person)],
  'moves in a crowd': [
    [...others(100, 20, 1), ...others(200, 20, 2), ...times(1, person)],
    [...others(100, 20, 1), ...others(200, 20, 2), ...times(2, person)],
  ],
};

let files: EventFiles;
let events: Events;
const random = seededRandom('neighbors');
const below = (n: number) => random.bytes(1)[0]! % n;
const PAIRS = 12;

beforeAll(async () => {
  files = await eventFiles();
  const rows: string[] = [];
  const add = (reference: string, all: Event[]) => {
    for (const { vid, day, color, millis } of all) {
      rows.push(`(${vid}, TIMESTAMP '${DAYS[day]} 12:00:00', '${reference}', ${millis / 1000}, '${color}')`);
    }
  };
  for (const [name, [before, after]] of Object.entries(NEIGHBORS)) {
    add(`${name} before`, before);
    add(`${name} after`, after);
  }
  for (let pair = 0; pair < PAIRS; pair++) {
    const some = (vid: number, day: number) =>
      Array.from({ length: below(5) }, (): Event => {
        return { vid, day, color: below(2) ? 'red' : 'blue', millis: below(200) * 10 };
      });
    const all = () => [1, 2, 3, 4].flatMap((vid) => [0, 1, 2].flatMap((day) => some(vid, day)));
    const [vid, day] = [1 + below(4), below(3)];
    const before = all();
    const isOther = (event: Event) => event.vid !== vid || event.day !== day;
    add(`${pair} before`, before);
    add(`${pair} after`, [...before.filter(isOther), ...some(vid, day)]);
    add(`${pair} both`, all());
  }
  const table = `(VALUES ${rows.join()}) AS events(vid, timestamp, event_group, duration, color)`;
  const file = await files.write('events.parquet', `SELECT * FROM ${table}`);
  events = await openEvents({ files: file, threads: 1 });
});
afterAll(async () => {
  await events.close();
  await files.remove();
});

describe('the exact figures of two neighboring data sets', () => {
  const CAP = 3;
  const CAP_MILLIS = 2500n;

  it('differ by at most the charged sensitivity, for several event groups, days and filters', async () => {
    const most = { reach: 0n, one: 0n, square: 0n, impressions: 0n, millis: 0n };
    const filters = [undefined, "color == 'red'", "color.matches('^r')"];
    for (let pair = 0; pair < PAIRS; pair++) {
      const filter = filters[pair % filters.length];
      const figures = async (side: string) => {
        const changed = { reference: `${pair} ${side}`, interval: INTERVAL, ...(filter && { filter }) };
        const shared = {
          reference: `${pair} both`,
          interval: { ...INTERVAL, start: new Date('2026-07-02') },
        };
        const eventGroups = pair % 2 ? [changed] : [changed, shared];
        const query: EventQuery = { eventGroups, vidSampling: EVERYBODY };
        const bins = await events.frequencies(query, CAP);
        const impressions = await events.impressions(query, CAP);
        return { bins, impressions, millis: await events.watchDurationMillis(query, CAP_MILLIS) };
      };
      const [a, b] = [await figures('before'), await figures('after')];
      const moved = a.bins.map((count, i) => distance(count, b.bins[i]!));
      const sum = (counts: bigint[]) => counts.reduce((total, count) => total + count, 0n);
      most.reach = larger(most.reach, distance(sum(a.bins), sum(b.bins)));
      most.one = larger(most.one, sum(moved));
      most.square = larger(most.square, sum(moved.map((change) => change * change)));
      most.impressions = larger(most.impressions, distance(a.impressions, b.impressions));
      most.millis = larger(most.millis, distance(a.millis, b.millis));
    }
    expect(most.reach).toBeLessThanOrEqual(1n);
    expect(most.impressions).toBeLessThanOrEqual(BigInt(CAP));
    expect(most.millis).toBeLessThanOrEqual(CAP_MILLIS);
    // Require that the maximum is reached: in one pair of neighbors, two bins change by one each. A smaller sensitivity
    // would therefore be wrong.
    expect(most).toMatchObject({ one: 2n, square: 2n });
  });

  it('differ by the whole cap if a person appears', async () => {
    const figures = async (side: string) => {
      const eventGroups = [{ reference: `appears ${side}`, interval: INTERVAL }];
      const query = { eventGroups, vidSampling: EVERYBODY };
      const impressions = await events.impressions(query, CAP);
      return [impressions, await events.watchDurationMillis(query, CAP_MILLIS)];
    };
    expect(await figures('before')).toEqual([0n, 0n]);
    expect(await figures('after')).toEqual([BigInt(CAP), CAP_MILLIS]);
  });
});

/** Privacy parameters with a large epsilon, so that few samples suffice to distinguish neighbors. */
const PURE = { epsilon: 1, delta: 0 };
const GAUSSIAN = { epsilon: 8, delta: 1e-3 };
const reach = (privacyParams: object) => ({ measurementType: 'REACH', reach: { privacyParams } });
const frequency = (privacyParams: { epsilon: number; delta: number }) => ({
  measurementType: 'REACH_AND_FREQUENCY',
  reachAndFrequency: {
    maximumFrequency: 2,
    frequencyPrivacyParams: privacyParams,
    // Give the reach almost no epsilon, so that the histogram determines the charge.
    reachPrivacyParams: { ...privacyParams, epsilon: 0.01 },
  },
});
const impression = (privacyParams: object) => ({
  measurementType: 'IMPRESSION',
  impression: { privacyParams, maximumFrequencyPerUser: 3 },
});
const duration = (privacyParams: object) => ({
  measurementType: 'DURATION',
  duration: { privacyParams, maximumWatchDurationPerUser: 2.5 },
});

function asking(type: object, reference: string): VerifiedRequisition {
  return {
    name: 'dataProviders/p/requisitions/r',
    measurement: 'measurementConsumers/acme/measurements/m',
    measurementConsumer: 'measurementConsumers/acme',
    spec: { nonceHashes: [], ...type } as unknown as VerifiedRequisition['spec'],
    selection: { events: [{ eventGroup: 'dataProviders/p/eventGroups/e', reference, interval: INTERVAL }] },
    vidSampling: EVERYBODY,
    nonce: 1n,
    resultKeyset: new Uint8Array(),
  };
}

/** Returns the charge of one day. */
const costOf = (type: object) => fromUnits(chargesFor(asking(type, 'appears after'), { events })[0]!.cost);

/**
 * Returns `samples` results for one of two neighbors. The counts and sums are read from the events only once, but every
 * result has new noise.
 */
async function resultsOf(type: object, reference: string, samples: number) {
  const query = { eventGroups: [{ reference, interval: INTERVAL }], vidSampling: EVERYBODY };
  const [people, bins] = [await events.frequencies(query, 1), await events.frequencies(query, 2)];
  const impressions = await events.impressions(query, 3);
  const millis = await events.watchDurationMillis(query, 2500n);
  const read: Events = {
    ...events,
    frequencies: async (_query, maximum) => (maximum === 1 ? people : bins),
    impressions: async () => impressions,
    watchDurationMillis: async () => millis,
  };
  const verified = asking(type, reference);
  const noise = seededRandom(`${JSON.stringify(type)} ${reference}`);
  const results: specs.Measurement_Result[] = [];
  for (let i = 0; i < samples; i++) {
    results.push(await computeResult(verified, { events: read, random: noise }));
  }
  return results;
}

const SAMPLES = 3000;

/**
 * Returns lower bounds on the privacy loss, as epsilon and as rho, when this statistic of the result is released for
 * the two neighbors. Each bound holds with confidence 1 − 10⁻⁶.
 */
async function spentOn(
  type: object,
  neighbors: string,
  statistic: (result: specs.Measurement_Result) => number,
) {
  const [before, after] = await Promise.all(
    ['before', 'after'].map(async (side) =>
      (await resultsOf(type, `${neighbors} ${side}`, SAMPLES)).map(statistic),
    ),
  );
  return privacyBounds(before!, after!);
}

const figureOf = ({ reach, impression, watchDuration }: specs.Measurement_Result) =>
  Number(reach?.value ?? impression?.value ?? watchDuration!.value!.seconds * 1000n) +
  (watchDuration?.value?.nanos ?? 0) / 1e6;
const firstShare = ({ frequency }: specs.Measurement_Result) =>
  frequency!.relativeFrequencyDistribution['1']!;

describe('the privacy loss of a result for one person, reference and day', () => {
  it.each([
    ['reach', reach(PURE), 'appears', figureOf],
    ['impressions', impression(PURE), 'appears', figureOf],
    ['watch duration', duration(PURE), 'appears', figureOf],
    ['frequencies', frequency(PURE), 'moves between bins', firstShare],
  ] as const)(
    'is at most the charged epsilon for %s with geometric noise',
    async (_what, type, neighbors, statistic) => {
      const { epsilon: charged } = costOf(type);
      const { epsilon } = await spentOn(type, neighbors, statistic);
      expect(epsilon).toBeLessThanOrEqual(charged);
      // Require a bound of at least half of the charge. A weaker bound could not detect a charge that is too small.
      expect(epsilon).toBeGreaterThan(0.5 * charged);
      if (type.measurementType === 'REACH_AND_FREQUENCY') {
        // Require a bound above the charge for a single bin, to show that charging only one bin would be wrong.
        expect(epsilon).toBeGreaterThan(0.01 + PURE.epsilon);
      }
    },
  );

  it.each([
    ['reach', reach(GAUSSIAN), 'appears', figureOf],
    ['impressions', impression(GAUSSIAN), 'appears', figureOf],
    ['watch duration', duration(GAUSSIAN), 'appears', figureOf],
    ['frequencies', frequency(GAUSSIAN), 'moves in a crowd', firstShare],
  ] as const)(
    'is at most the charged rho for %s with Gaussian noise',
    async (_what, type, neighbors, statistic) => {
      const { rho: charged } = costOf(type);
      const { rho } = await spentOn(type, neighbors, statistic);
      expect(rho).toBeLessThanOrEqual(charged);
      expect(rho).toBeGreaterThan(0.35 * charged);
      if (type.measurementType === 'REACH_AND_FREQUENCY') {
        const asOneBin = [reach(GAUSSIAN), reach({ ...GAUSSIAN, epsilon: 0.01 })].map(
          (one) => costOf(one).rho,
        );
        expect(rho).toBeGreaterThan(asOneBin[0]! + asOneBin[1]!);
      }
    },
  );
});

const distance = (a: bigint, b: bigint) => (a > b ? a - b : b - a);
const larger = (a: bigint, b: bigint) => (a > b ? a : b);
